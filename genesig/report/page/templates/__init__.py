"""HTML, style sheets and scripts of the page; a package, so that imports show who reads them."""
