"""Displays: pictures of what a comparison found, and the numbers behind them."""
