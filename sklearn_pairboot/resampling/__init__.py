"""Resampling plans: which units are drawn, and what is held fixed.

A plan says what would vary if the test data were collected again. Pass one as ``resampling=`` to
a comparison. The bootstrap draws as many units as there are, with replacement, and all rows of a
drawn unit stay together.

==================================================  ===========================================
How the test rows came about                        Plan
==================================================  ===========================================
each on its own: one per patient, document, user    `RowBootstrap`, the default without groups
several per patient, document or user, and these    `ClusterBootstrap`, the default with groups:
independent of one another                          ``groups`` are their ids
several per user and several per item, crossed      `CrossedBootstrap`: ``groups`` of two columns
a fixed number of each class or site                `StratifiedBootstrap`, with or without groups
in time order, neighbours alike                     `BlockBootstrap`: neither rows nor arbitrary
                                                    groups, since these would count as independent
in time order, from many independent subjects       `ClusterBootstrap`: ``groups`` are the subjects
no resampling: posterior draws are wanted           `BayesianBootstrap`
==================================================  ===========================================

`TwoStageBootstrap` is there for comparison with others' results: it counts the variation within
clusters about twice.
"""

from sklearn_pairboot.resampling._bayesian import BayesianBootstrap
from sklearn_pairboot.resampling._blocks import BlockBootstrap, optimal_block_length
from sklearn_pairboot.resampling._crossed import CrossedBootstrap
from sklearn_pairboot.resampling._two_stage import TwoStageBootstrap
from sklearn_pairboot.resampling._whole import (
    ClusterBootstrap,
    RowBootstrap,
    StratifiedBootstrap,
)

__all__ = [
    "BayesianBootstrap",
    "BlockBootstrap",
    "ClusterBootstrap",
    "CrossedBootstrap",
    "RowBootstrap",
    "StratifiedBootstrap",
    "TwoStageBootstrap",
    "optimal_block_length",
]
