"""The page's HTML, style and script, put into it when it is rendered."""
