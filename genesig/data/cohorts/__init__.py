"""Samples of elsewhere: other studies and new samples, in the words of this one."""
