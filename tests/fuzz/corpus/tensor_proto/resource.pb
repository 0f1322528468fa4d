r
devcn *type