"""From files to a normalised data set and its splits."""
