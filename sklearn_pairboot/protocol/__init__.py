"""The evaluation protocol: train, validate, and read the test rows once."""

from sklearn_pairboot.protocol.evaluate import evaluate_protocol
from sklearn_pairboot.protocol.result import CalibrationRow, ProtocolResult, ThresholdRow

__all__ = ["CalibrationRow", "ProtocolResult", "ThresholdRow", "evaluate_protocol"]
