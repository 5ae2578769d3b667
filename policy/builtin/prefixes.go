package builtin

// alphabet is what the part of a token after its prefix is written in.
type alphabet uint8

const (
	alnum  alphabet = iota // letters and digits
	hexa                   // hexadecimal digits
	url64                  // and _ -
	dotted                 // and .
	upper                  // capitals and digits
	base                   // base64 with + / =
)

// prefix is one published form of token. digit asks for a digit in the body,
// where ordinary words could follow the prefix.
type prefix struct {
	text  string
	kind  string
	min   uint8
	in    alphabet
	digit bool
}

// prefixesOf returns the forms that begin with a byte.
func prefixesOf(c byte) []prefix {
	switch c {
	case 'A':
		return prefixesA[:]
	case 'C':
		return prefixesC[:]
	case 'E':
		return prefixesE[:]
	case 'F', 'H', 'I', 'K', 'L', 'N', 'P', 'R', 'S', 'V':
		return prefixesCapital[:]
	case 'G':
		return prefixesG[:]
	case 'a', 'b':
		return prefixesAB[:]
	case 'c':
		return prefixesLowC[:]
	case 'd':
		return prefixesD[:]
	case 'e', 'f':
		return prefixesEF[:]
	case 'g':
		return prefixesLowG[:]
	case 'h', 'i', 'k':
		return prefixesHIK[:]
	case 'l', 'm':
		return prefixesLM[:]
	case 'n', 'o':
		return prefixesNO[:]
	case 'p':
		return prefixesP[:]
	case 'r':
		return prefixesR[:]
	case 's':
		return prefixesS[:]
	case 't', 'v', 'w':
		return prefixesTVW[:]
	case 'x', 'y', 'z':
		return prefixesXYZ[:]
	}
	return nil
}

var (
	prefixesA = [...]prefix{
		{"AKIA", "aws-access-key", 12, upper, false},
		{"ASIA", "aws-access-key", 12, upper, true},
		{"ABIA", "aws-access-key", 16, upper, true},
		{"ACCA", "aws-access-key", 16, upper, true},
		{"AIza", "google-api-key", 20, url64, false},
		{"AGE-SECRET-KEY-1", "age-key", 20, alnum, false},
		{"AGE-SECRET-KEY-PQ-1", "age-key", 20, alnum, false},
		{"ATATT3", "atlassian-token", 20, base, false},
		{"ATCTT3", "atlassian-token", 20, base, false},
		{"ATBB", "bitbucket-password", 24, alnum, true},
		{"AKCp", "artifactory-key", 30, alnum, true},
		{"APIKEY-", "api-key", 20, alnum, true},
	}
	prefixesC = [...]prefix{
		{"CFPAT-", "contentful-token", 20, url64, false},
		{"CCIPAT_", "circleci-token", 16, url64, true},
		{"CCIPRJ_", "circleci-token", 16, url64, true},
	}
	prefixesE = [...]prefix{
		{"EAAA", "square-token", 40, url64, true},
		{"EAAC", "facebook-token", 40, alnum, true},
		{"EZAK", "easypost-key", 40, alnum, false},
		{"EZTK", "easypost-key", 40, alnum, false},
	}
	prefixesCapital = [...]prefix{
		{"FLWSECK-", "flutterwave-key", 20, url64, true},
		{"FLWSECK_TEST-", "flutterwave-key", 20, url64, true},
		{"HRKU-", "heroku-key", 20, url64, false},
		{"IGQV", "instagram-token", 60, url64, true},
		{"KGAT_", "kaggle-token", 20, alnum, false},
		{"LTAI", "alibaba-access-key", 12, alnum, true},
		{"NRAK-", "newrelic-key", 16, alnum, false},
		{"NRII-", "newrelic-key", 16, url64, false},
		{"PMAK-", "postman-key", 20, url64, false},
		{"RGAPI-", "riot-key", 20, url64, true},
		{"SG.", "sendgrid-key", 20, dotted, true},
		{"SK", "twilio-key", 32, hexa, true},
		{"VF.DM.", "voiceflow-key", 20, dotted, true},
	}
	prefixesG = [...]prefix{
		{"GOCSPX-", "google-client-secret", 16, url64, false},
		{"GR1348941", "gitlab-token", 16, url64, false},
		{"GOOG1E", "google-access-key", 30, upper, true},
	}
	prefixesAB = [...]prefix{
		{"apify_api_", "apify-token", 20, alnum, false},
		{"api_org_", "huggingface-token", 20, alnum, false},
		{"aio_", "adafruit-key", 24, alnum, true},
		{"bkua_", "buildkite-token", 20, alnum, false},
		{"bkaj_", "buildkite-token", 20, dotted, false},
		{"bkct_", "buildkite-token", 20, alnum, false},
	}
	prefixesLowC = [...]prefix{
		{"cfut_", "cloudflare-token", 20, alnum, false},
		{"cfat_", "cloudflare-token", 20, alnum, false},
		{"cfk_", "cloudflare-token", 20, alnum, false},
		{"cio", "cratesio-token", 32, alnum, true},
		{"ctx7sk-", "context7-key", 16, url64, false},
		{"cmVmdGtu", "artifactory-token", 40, alnum, true},
		{"csk-", "cerebras-key", 24, alnum, true},
	}
	prefixesD = [...]prefix{
		{"dop_v1_", "digitalocean-token", 16, alnum, false},
		{"doo_v1_", "digitalocean-token", 16, alnum, false},
		{"dor_v1_", "digitalocean-token", 16, alnum, false},
		{"dapi", "databricks-token", 28, hexa, true},
		{"dkea", "databricks-token", 28, hexa, true},
		{"dckr_pat_", "docker-token", 16, url64, false},
		{"dckr_oat_", "docker-token", 16, url64, false},
		{"dp.st.", "doppler-token", 16, dotted, false},
		{"dp.pt.", "doppler-token", 16, dotted, false},
		{"dp.ct.", "doppler-token", 16, dotted, false},
		{"dp.sa.", "doppler-token", 16, dotted, false},
		{"dp.scim.", "doppler-token", 16, dotted, false},
		{"dp.audit.", "doppler-token", 16, dotted, false},
		{"dt0c01.", "dynatrace-token", 20, dotted, true},
		{"dt0s", "dynatrace-token", 30, dotted, true},
		{"duffel_live_", "duffel-token", 20, url64, false},
		{"duffel_test_", "duffel-token", 20, url64, false},
	}
	prefixesEF = [...]prefix{
		{"e2b_", "e2b-key", 24, hexa, true},
		{"esecret_", "anyscale-key", 20, alnum, true},
		{"fc-", "firecrawl-key", 24, hexa, true},
		{"figd_", "figma-token", 16, url64, false},
		{"figu_", "figma-token", 16, url64, false},
		{"fo1_", "fly-token", 30, url64, true},
		{"fm1r_", "fly-token", 30, base, true},
		{"fm1a_", "fly-token", 30, base, true},
		{"fm2_", "fly-token", 30, base, true},
		{"fio-u-", "frameio-token", 30, url64, true},
		{"fw_", "fireworks-key", 20, alnum, true},
	}
	prefixesLowG = [...]prefix{
		{"ghp_", "github-token", 8, alnum, false},
		{"gho_", "github-token", 8, alnum, false},
		{"ghu_", "github-token", 8, alnum, false},
		{"ghs_", "github-token", 8, dotted, false},
		{"ghr_", "github-token", 8, alnum, false},
		{"github_pat_", "github-token", 8, url64, false},
		{"glpat-", "gitlab-token", 8, dotted, false},
		{"gldt-", "gitlab-token", 8, dotted, false},
		{"glrt-", "gitlab-token", 8, dotted, false},
		{"glrtr-", "gitlab-token", 8, dotted, false},
		{"glcbt-", "gitlab-token", 8, dotted, false},
		{"glptt-", "gitlab-token", 8, dotted, false},
		{"glft-", "gitlab-token", 8, dotted, false},
		{"glimt-", "gitlab-token", 8, dotted, false},
		{"glagent-", "gitlab-token", 8, dotted, true},
		{"gloas-", "gitlab-token", 8, dotted, false},
		{"glsoat-", "gitlab-token", 8, dotted, false},
		{"glffct-", "gitlab-token", 8, dotted, false},
		{"glwt-", "gitlab-token", 8, dotted, false},
		{"glsa_", "grafana-token", 16, url64, false},
		{"glc_", "grafana-token", 16, base, false},
		{"gsk_", "groq-key", 20, alnum, true},
	}
	prefixesHIK = [...]prefix{
		{"hf_", "huggingface-token", 16, alnum, false},
		{"hvs.", "vault-token", 8, dotted, false},
		{"hvb.", "vault-token", 8, dotted, false},
		{"hvr.", "vault-token", 8, dotted, false},
		{"hcaik_", "honeycomb-key", 16, alnum, false},
		{"hcalk_", "honeycomb-key", 16, alnum, false},
		{"hcamk_", "honeycomb-key", 16, dotted, false},
		{"hcbik_", "honeycomb-key", 16, alnum, false},
		{"ico-", "intercom-token", 28, alnum, true},
		{"key-", "mailgun-key", 28, hexa, true},
	}
	prefixesLM = [...]prefix{
		{"lin_api_", "linear-key", 16, alnum, false},
		{"lin_oauth_", "linear-key", 16, alnum, false},
		{"lsv2_pt_", "langsmith-key", 16, url64, false},
		{"lsv2_sk_", "langsmith-key", 16, url64, false},
		{"ls__", "langsmith-key", 24, alnum, true},
		{"llx-", "llamacloud-key", 24, alnum, true},
		{"mlsn.", "mailersend-token", 30, alnum, true},
	}
	prefixesNO = [...]prefix{
		{"nsec1", "nostr-key", 16, alnum, true},
		{"npm_", "npm-token", 20, alnum, true},
		{"ntn_", "notion-token", 20, alnum, false},
		{"nfp_", "netlify-token", 20, alnum, false},
		{"nfc_", "netlify-token", 20, alnum, true},
		{"nvapi-", "nvidia-key", 20, url64, true},
		{"napi_", "neon-key", 30, alnum, true},
		{"ops_eyJ", "onepassword-token", 20, base, false},
		{"oy2", "nuget-key", 40, alnum, true},
		{"oauth2accesstoken:ya29", "google-token", 8, dotted, false},
	}
	prefixesP = [...]prefix{
		{"pypi-", "pypi-token", 16, url64, true},
		{"pat-na1-", "hubspot-token", 16, url64, true},
		{"pat-na2-", "hubspot-token", 16, url64, true},
		{"pat-eu1-", "hubspot-token", 16, url64, true},
		{"pscale_pw_", "planetscale-password", 20, dotted, false},
		{"pscale_tkn_", "planetscale-token", 20, dotted, false},
		{"pscale_oauth_", "planetscale-token", 20, dotted, false},
		{"pul-", "pulumi-token", 20, hexa, true},
		{"phx_", "posthog-key", 20, alnum, false},
		{"phs_", "posthog-key", 20, alnum, true},
		{"pplx-", "perplexity-key", 20, alnum, false},
		{"pcsk_", "pinecone-key", 20, url64, false},
		{"pnu_", "prefect-key", 24, alnum, true},
		{"pnb_", "prefect-key", 24, alnum, true},
		{"perm:", "jetbrains-token", 20, dotted, true},
		{"perm-", "jetbrains-token", 30, dotted, true},
	}
	prefixesR = [...]prefix{
		{"rk_live_", "stripe-key", 8, alnum, false},
		{"rk_test_", "stripe-key", 8, alnum, false},
		{"r8_", "replicate-token", 24, alnum, true},
		{"rnd_", "render-key", 20, alnum, true},
		{"rubygems_", "rubygems-key", 24, hexa, true},
		{"rdme_", "readme-key", 30, alnum, true},
		{"rpa_", "runpod-key", 30, alnum, true},
		{"re_", "resend-key", 28, url64, true},
	}
	prefixesS = [...]prefix{
		{"sk-ant-", "anthropic-key", 8, url64, false},
		{"sk-proj-", "openai-key", 8, url64, false},
		{"sk-svcacct-", "openai-key", 8, url64, false},
		{"sk-admin-", "openai-key", 16, url64, true},
		{"sk-or-v1-", "openrouter-key", 8, url64, false},
		{"sk-lf-", "langfuse-key", 16, url64, true},
		{"sk-", "openai-key", 14, url64, true},
		{"sk_live_", "stripe-key", 8, url64, false},
		{"sk_test_", "stripe-key", 8, url64, false},
		{"sk_", "api-key", 32, alnum, true},
		{"shpat_", "shopify-token", 16, alnum, false},
		{"shpca_", "shopify-token", 16, alnum, false},
		{"shppa_", "shopify-token", 16, alnum, false},
		{"shpss_", "shopify-token", 16, alnum, false},
		{"shippo_live_", "shippo-token", 16, alnum, false},
		{"shippo_test_", "shippo-token", 16, alnum, false},
		{"sq0atp-", "square-token", 16, url64, false},
		{"sq0csp-", "square-secret", 16, url64, false},
		{"sntrys_", "sentry-token", 16, base, false},
		{"sntryu_", "sentry-token", 16, alnum, false},
		{"sbp_", "supabase-token", 24, alnum, true},
		{"sb_secret_", "supabase-key", 16, url64, false},
		{"secret_", "notion-token", 40, alnum, true},
		{"squ_", "sonarqube-token", 24, hexa, true},
		{"sqp_", "sonarqube-token", 24, hexa, true},
		{"sqa_", "sonarqube-token", 24, hexa, true},
		{"sgp_", "sourcegraph-token", 24, url64, true},
		{"syt_", "matrix-token", 24, url64, true},
		{"sl.", "dropbox-token", 60, dotted, true},
	}
	prefixesTVW = [...]prefix{
		{"tskey-", "tailscale-key", 12, url64, true},
		{"tvly-", "tavily-key", 16, url64, true},
		{"tfp_", "typeform-token", 30, url64, true},
		{"tgp_v1_", "together-key", 16, url64, true},
		{"tr_dev_", "trigger-key", 16, alnum, true},
		{"tr_prod_", "trigger-key", 16, alnum, true},
		{"vercel_blob_rw_", "vercel-token", 16, url64, true},
		{"vcp_", "vercel-token", 24, alnum, true},
		{"vck_", "vercel-token", 24, alnum, true},
		{"whsec_", "webhook-secret", 16, base, false},
	}
	prefixesXYZ = [...]prefix{
		{"xoxb-", "slack-token", 6, url64, false},
		{"xoxp-", "slack-token", 6, url64, false},
		{"xoxa-", "slack-token", 6, url64, false},
		{"xoxr-", "slack-token", 6, url64, false},
		{"xoxs-", "slack-token", 6, url64, false},
		{"xoxo-", "slack-token", 6, url64, false},
		{"xoxc-", "slack-token", 6, url64, false},
		{"xoxd-", "slack-token", 6, base, false},
		{"xoxe-", "slack-token", 6, url64, false},
		{"xoxe.", "slack-token", 6, dotted, false},
		{"xapp-", "slack-token", 6, url64, true},
		{"xai-", "xai-key", 24, alnum, true},
		{"xau_", "xata-key", 24, alnum, true},
		{"xkeysib-", "brevo-key", 20, url64, true},
		{"xsmtpsib-", "brevo-key", 20, url64, true},
		{"xprv", "wallet-key", 80, alnum, true},
		{"yprv", "wallet-key", 80, alnum, true},
		{"zprv", "wallet-key", 80, alnum, true},
		{"ya29.", "google-token", 8, dotted, false},
		{"y0_", "yandex-token", 30, url64, true},
	}
)

// match reports whether the text at the start of v is a token of this form.
func (p *prefix) match(v string) bool {
	if len(v) < len(p.text)+int(p.min) || v[1] != p.text[1] || v[:len(p.text)] != p.text {
		return false
	}
	body := v[len(p.text):]
	n, digits, same := 0, 0, 0
	for n < len(body) && n < 512 && p.in.has(body[n]) {
		if byteKind[body[n]] == bDigit {
			digits++
		}
		if body[n] == body[0] {
			same++
		}
		n++
	}
	switch {
	case n < int(p.min):
		return false
	case p.digit && digits == 0:
		return false
	case same == n: // xxxx…
		return false
	case n < len(body) && byteKind[body[n]] != bOther && n < 512 && p.in != upper:
		return false // it goes on in another alphabet: another thing
	case p.in == upper && (n > 60 || n < len(body) && (byteKind[body[n]] != bOther)):
		return false
	}
	return true
}

func (a alphabet) has(c byte) bool {
	switch k := byteKind[c]; a {
	case hexa:
		return isHex(c)
	case upper:
		return k == bUpper || k == bDigit
	case url64:
		return k != bOther || c == '_' || c == '-'
	case dotted:
		return k != bOther || c == '_' || c == '-' || c == '.'
	case base:
		return k != bOther || c == '_' || c == '-' || c == '+' || c == '/' || c == '=' || c == '%'
	default:
		return k != bOther
	}
}
