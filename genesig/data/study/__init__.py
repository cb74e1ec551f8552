"""Config, sample table and matrix become one data set; each check beside what it checks."""
