"""Selection by penalties on partial derivatives."""
