"""One example for each command; `--help` ends with it, and the tests run it."""

EXAMPLES = {
    "demo": "infinimix demo --output demo.html",
    "fit": "infinimix fit insects.csv --target kind --output insects.imx",
    "predict": "infinimix predict insects.imx new.csv --proba",
    "evaluate": "infinimix evaluate insects.csv --target kind --folds 3",
    "compare": "infinimix compare insects.csv --target kind --models aclass,random-forest",
    "explain": "infinimix explain insects.imx insects.csv --row 7",
    "report": "infinimix report insects.imx insects.csv --target kind --output report.html",
    "inspect": "infinimix inspect insects.imx",
    "cluster": "infinimix cluster insects.csv --drop kind --output groups.csv",
    "impute": "infinimix impute insects.csv --output filled.csv",
    "network": "infinimix network insects.csv --sweeps 300 --bif insects.bif",
    "warm-up": "infinimix warm-up --only finite_mixtures",
    "reproduce": "infinimix reproduce aclass --figure 4",
    "stream": "infinimix stream insects.csv --target kind --folder state",
    "serve": "infinimix serve state --model online-crp --open-world",
    "watch": "infinimix watch http://127.0.0.1:8080 --once",
    "replay": "infinimix replay state --model aclass --output replayed.imx",
}
