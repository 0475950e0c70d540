"""Statements about distributions (`training.py`): densities, moments, divergences, derivatives."""

# By name: the kinds of its parameters, and what a value of it looks like.
DISTRIBUTIONS = {
    "Normal": ("loc=R scale=P", "r"), "LogNormal": ("loc=R scale=P", "p"),
    "Laplace": ("loc=R scale=P", "r"), "Cauchy": ("loc=R scale=P", "r"),
    "Gumbel": ("loc=R scale=P", "r"), "HalfNormal": ("scale=P", "p"),
    "HalfCauchy": ("scale=P", "p"), "Exponential": ("rate=P", "p"),
    "Gamma": ("concentration=P rate=P", "p"), "Chi2": ("df=P", "p"), "Beta": (
        "concentration1=P concentration0=P", "u"), "StudentT": ("df=P loc=R scale=P", "r"),
    "InverseGamma": ("concentration=P rate=P", "p"), "Pareto": ("scale=P alpha=P", "big"),
    "Weibull": ("scale=P concentration=P", "p"), "Uniform": ("low=R high=H", "r"),
    "Kumaraswamy": ("concentration1=P concentration0=P", "u"),
    "FisherSnedecor": ("df1=P df2=P", "p"), "Bernoulli": ("probs=U", "b"),
    "Geometric": ("probs=U", "n"), "Poisson": ("rate=P", "n"),
    "Binomial": ("total_count=N probs=U", "few"), "NegativeBinomial": (
        "total_count=N probs=U", "n"), "Categorical": ("probs=V", "k"), "OneHotCategorical": (
        "logits=W", "h"), "Dirichlet": ("concentration=V", "s"), "Multinomial": (
        "total_count=C probs=V", "m"), "RelaxedBernoulli": ("temperature=T probs=U", "u"),
    "RelaxedOneHotCategorical": ("temperature=T logits=W", "s"), "MultivariateNormal": (
        "loc=W covariance_matrix=M", "v"), "LogisticNormal": ("loc=D scale=E", "s"),
    "LowRankMultivariateNormal": ("loc=W cov_factor=F cov_diag=V", "v"),
    "VonMises": ("loc=R concentration=P", "r"),
}  # fmt: skip
PARAMETERS = {
    "R": ["drawn(3)", "drawn(2, 3)", "torch.zeros(3, dtype=see.dtype)", "0.5"],
    "P": ["drawn(3).abs() + 0.3", "torch.tensor([0.5, 1.0, 4.0], dtype=see.dtype)", "1.5",
          "drawn(2, 3).exp()", "drawn(3)"],
    "H": ["drawn(3).abs() + 3"], "T": ["0.7", "torch.tensor(1.5, dtype=see.dtype)"],
    "U": ["drawn(3).sigmoid()", "torch.tensor([0.1, 0.5, 0.9], dtype=see.dtype)", "0.3",
          "torch.tensor([0.0, 1.0, 1.5], dtype=see.dtype)"],
    "N": ["4", "torch.tensor([4.0, 5.0, 6.0], dtype=see.dtype)"], "C": ["3"],
    "V": ["drawn(3).abs() + 0.2", "drawn(2, 3).exp()"], "W": ["drawn(3)", "drawn(2, 3)"],
    "D": ["drawn(2)"], "E": ["drawn(2).abs() + 0.2"], "F": ["drawn(3, 2)"],
    "M": ["(lambda a: a @ a.mT + torch.eye(3, dtype=see.dtype))(drawn(3, 3))"],
}  # fmt: skip
VALUES = {
    "r": ["drawn(3)", "drawn(4, 1, 3)", "torch.tensor(0.25, dtype=see.dtype)"],
    "p": ["drawn(3).abs() + 0.1", "drawn(2, 1, 3).exp()", "drawn(3)"],
    "big": ["drawn(3).abs() + 9"],
    "u": ["drawn(3).sigmoid()", "torch.tensor([0.0, 0.5, 1.0], dtype=see.dtype)"],
    "b": ["torch.tensor([0.0, 1.0, 1.0], dtype=see.dtype)", "torch.tensor(2.0, dtype=see.dtype)"],
    "n": ["torch.tensor([0.0, 1.0, 7.0], dtype=see.dtype)", "torch.tensor(2.5, dtype=see.dtype)"],
    "few": ["torch.tensor([0.0, 1.0, 4.0], dtype=see.dtype)", "torch.tensor(9.0, dtype=see.dtype)"],
    "k": ["torch.tensor(2)", "torch.tensor([0, 1])", "torch.tensor([[3], [0]])"],
    "h": ["torch.tensor([0.0, 1.0, 0.0], dtype=see.dtype)", "torch.ones(3, dtype=see.dtype)"],
    "s": ["drawn(3).softmax(0)", "torch.tensor([0.2, 0.3, 0.5], dtype=see.dtype)"],
    "m": ["torch.tensor([1.0, 0.0, 2.0], dtype=see.dtype)"], "v": ["drawn(3)", "drawn(4, 1, 3)"],
}  # fmt: skip
ASKED = ["mean", "variance", "stddev", "mode", "entropy()", "batch_shape", "event_shape",
         "has_rsample", "has_enumerate_support", "perplexity()",
         "enumerate_support()", "enumerate_support(expand=False)", "sample().shape",
         "sample((2, 3)).shape", "sample_n(4).shape", "sample((5,)).dtype"]  # fmt: skip
SEEN = "see(str(d.{}) if 'shape' in '{}' or 'dtype' in '{}' else d.{})"
TRANSFORMS = ["ExpTransform()", "AffineTransform(1.0, 2.5)", "SigmoidTransform()",
              "TanhTransform()", "PowerTransform(2.0)", "SoftplusTransform()",
              "ComposeTransform([D.transforms.ExpTransform(),"
              " D.transforms.AffineTransform(0.0, 2.0)])", "StickBreakingTransform()"]  # fmt: skip


def made(rng):
    name = rng.choice(list(DISTRIBUTIONS))
    given, value = DISTRIBUTIONS[name]
    parts = []
    for part in given.split():
        key, kind = part.split("=")
        if key == "probs" and kind == "U" and rng.random() < 0.3:
            key, kind = "logits", "R"
        parts.append(f"{key}={rng.choice(PARAMETERS[kind])}")
    more = rng.choice(["", "", ", validate_args=False", ", validate_args=True"])
    text = f"D.{name}({', '.join(parts)}{more})"
    return name, text, value


def distributions(rng):
    text = []
    for _ in range(3):
        name, built, kind = made(rng)
        text.append(f"d = None\nd = {built}")
        for _ in range(4):
            value = rng.choice(VALUES[kind])
            text.append(f"see(d.log_prob({value}))")
            if rng.random() < 0.4:
                text.append(f"see(d.cdf({value}))")
            if rng.random() < 0.3:
                text.append("see(d.icdf(drawn(3).sigmoid()))")
            asked = rng.choice(ASKED)
            text.append(SEEN.replace("{}", asked))
        if rng.random() < 0.3:
            text.append(f"see(str(d.expand((4, {rng.choice(['3', '2, 3', '1'])})).batch_shape))")
        if rng.random() < 0.3:
            text.append(f"d = D.Independent(d, {rng.choice([0, 1, 2])}); see(str(d.event_shape),"
                        f" d.log_prob({rng.choice(VALUES[kind])}))")  # fmt: skip
        if rng.random() < 0.4:
            _, other, _ = made(rng) if rng.random() < 0.3 else (name, built, kind)
            text.append(f"see(D.kl_divergence(d, {other}))")
        if rng.random() < 0.3:
            text.append(
                f"w = torch.tensor(1.3, dtype=see.dtype, requires_grad=True)\nd = D.{name}(*[v * w"
                f" if v.is_floating_point() else v for v in [{values_of(built)}]])\n"
                f"see(torch.autograd.grad(d.log_prob({rng.choice(VALUES[kind])}).sum(), w))"
            )
        if rng.random() < 0.3:
            t = rng.choice(TRANSFORMS)
            text.append(
                f"t = D.transforms.{t}\nx = drawn(3).abs() * 0.5 + 0.1\ny = t(x)\nsee(y, t.inv(y))"
                "\nsee(t.log_abs_det_jacobian(x, y))\nsee(t.bijective)"
            )
            text.append("see(D.TransformedDistribution(D.Normal(drawn(3), 1.0), [t]).log_prob(y))")
    return text


def values_of(built):
    """The parameters of a distribution's text as tensors."""
    inside = built[built.index("(") + 1 : -1]
    names = [p for p in inside.split(", ") if "validate_args" not in p]
    text = ", ".join(names)
    out, depth, start = [], 0, 0
    for k, c in enumerate(text + ","):
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            out.append(text[start:k].strip().split("=", 1)[1])
            start = k + 1
    return ", ".join(f"torch.as_tensor({v}, dtype=see.dtype)" for v in out)


SPECIAL = """i0 i0e i1 i1e log_ndtr ndtr ndtri erfcx erf erfc erfinv digamma gammaln entr
    expit logit sinc exp2 expm1 log1p psi""".split()
SPECIAL_TWO = "xlogy xlog1py gammainc gammaincc polygamma multigammaln".split()


def specials(rng):
    text = []
    for _ in range(4):
        x = rng.choice(["drawn(4)", "drawn(4).abs() + 0.1", "drawn(4) * 9", "torch.tensor([0.0,"
                        " 1.0, -0.0, -30.0, 40.0], dtype=see.dtype)",
                        "drawn(3).sigmoid()"])  # fmt: skip
        name = rng.choice(SPECIAL)
        text.append(f"x = ({x}).requires_grad_()\ny = torch.special.{name}(x)\nsee(y)\n"
                    "see(torch.autograd.grad(y.sum(), x))")  # fmt: skip
        two = rng.choice(SPECIAL_TWO)
        first = {"polygamma": "1, ", "multigammaln": ""}.get(two, "drawn(3).abs() + 0.5, ")
        last = "2" if two == "multigammaln" else ""
        more = ", 2" if last else ""
        text.append(f"see(torch.special.{two}({first}drawn(3).abs() + 1.5{more}))")
    return text


KINDS = {"distributions": distributions, "specials": specials}
