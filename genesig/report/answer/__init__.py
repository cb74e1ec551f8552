"""The first screen: the answer in plain words and its tiles."""
