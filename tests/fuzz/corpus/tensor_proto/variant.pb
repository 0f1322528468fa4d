z
kindmeta