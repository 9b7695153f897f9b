"""Reports of a comparison: text, markdown, data frames, JSON; all from rows and plain facts."""
