"""Judges: how far their verdicts agree with those of humans, and what biases them."""

from sklearn_pairboot.agreement._estimates import Estimate
from sklearn_pairboot.agreement.judges import JudgeAgreement, judge_agreement
from sklearn_pairboot.agreement.position import PositionBias, position_bias

__all__ = ["Estimate", "JudgeAgreement", "PositionBias", "judge_agreement", "position_bias"]
