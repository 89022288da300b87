/**
 * Shapes of secrets, written from what vendors say of their tokens. A pattern is tried only where one of its keywords stands in
 * the lower-cased text; group 1 is what stays, group 2 the secret. Each is anchored at a start that can't be inside of its own
 * repetition, or bounded, so that no text takes more than linear time (E5).
 */

export interface SecretShape {
  readonly id: string;
  readonly keywords: readonly string[];
  /** With `g`, `d` and two groups. */
  readonly find: RegExp;
  /** Bits a character that the secret needs at least, besides a digit; left out: the shape alone tells it. */
  readonly entropy?: number;
  /** A placeholder (`$TOKEN`, `<password>`, `****`) is none. */
  readonly words?: true;
}

/** Not in the middle of a word. */
const START = '(?<![A-Za-z0-9])';
const END = '(?![A-Za-z0-9])';

function token(id: string, keywords: string | readonly string[], body: string): SecretShape {
  const find = new RegExp(`(${START})(${body})`, 'dg');
  return { id, keywords: typeof keywords === 'string' ? [keywords] : keywords, find };
}

export const SECRET_SHAPES: readonly SecretShape[] = [
  // Models
  token('anthropic', 'sk-ant-', 'sk-ant-[A-Za-z0-9_-]{16,}'),
  token(
    'openai-scoped',
    ['sk-proj-', 'sk-svcacct-', 'sk-admin-', 'sk-or-'],
    'sk-(?:proj|svcacct|admin|or)-[A-Za-z0-9_-]{16,}',
  ),
  token('sk-plain', 'sk-', 'sk-[A-Za-z0-9]{20,}'),
  { ...token('sk-parts', 'sk-', 'sk-[A-Za-z0-9_-]{16,}'), entropy: 3 },
  token('hugging-face', ['hf_', 'api_org_'], `(?:hf|api_org)_[A-Za-z0-9]{30,}`),
  token('groq', 'gsk_', 'gsk_[A-Za-z0-9]{40,}'),
  token('xai', 'xai-', 'xai-[A-Za-z0-9]{60,}'),
  token('perplexity', 'pplx-', 'pplx-[A-Za-z0-9]{40,}'),
  token('replicate', 'r8_', 'r8_[A-Za-z0-9]{37,}'),
  token('tavily', 'tvly-', 'tvly-[A-Za-z0-9-]{24,}'),
  // Code and packages
  token('github', ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], 'gh[pousr]_[A-Za-z0-9]{20,}'),
  token('github-fine', 'github_pat_', 'github_pat_[A-Za-z0-9_]{20,}'),
  token(
    'gitlab',
    ['glpat-', 'gldt-', 'glrt-', 'glcbt-', 'glptt-', 'glft-', 'glsoat-', 'gloas-'],
    'gl(?:pat|dt|rt|cbt|ptt|ft|soat|oas)-[A-Za-z0-9_.-]{16,}',
  ),
  token('npm', 'npm_', `npm_[A-Za-z0-9]{30,}`),
  token('pypi', 'pypi-ageichlwas5vcmc', 'pypi-AgEIcHlwaS5vcmc[A-Za-z0-9_-]{30,}'),
  token('rubygems', 'rubygems_', `rubygems_[a-f0-9]{48}${END}`),
  token('docker', 'dckr_', 'dckr_(?:pat|oat)_[A-Za-z0-9_-]{24,}'),
  token('postman', 'pmak-', `PMAK-[a-f0-9]{24}-[a-f0-9]{34}${END}`),
  token('linear', 'lin_api_', 'lin_api_[A-Za-z0-9]{32,}'),
  token('notion', ['secret_', 'ntn_'], '(?:secret|ntn)_[A-Za-z0-9]{40,}'),
  token('atlassian', 'atatt3', 'ATATT3[A-Za-z0-9_=-]{60,}'),
  token('figma', 'figd_', 'figd_[A-Za-z0-9_-]{38,}'),
  // Clouds
  token('aws-id', ['akia', 'asia', 'abia', 'acca'], `(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}${END}`),
  token('google-api', 'aiza', 'AIza[A-Za-z0-9_-]{35}'),
  token('google-oauth', 'ya29.', 'ya29\\.[A-Za-z0-9_-]{20,}'),
  token('google-client', 'gocspx-', 'GOCSPX-[A-Za-z0-9_-]{24,}'),
  {
    id: 'azure-storage',
    keywords: ['accountkey=', 'sharedaccesskey='],
    find: /((?:Account|SharedAccess)Key=)([A-Za-z0-9+/]{40,88}={0,2})/dgi,
  },
  token('azure-app', '8q~', '[A-Za-z0-9_~.]{3}8Q~[A-Za-z0-9_~.-]{31,34}'),
  token('digitalocean', ['doo_v1_', 'dop_v1_', 'dor_v1_'], `do[opr]_v1_[a-f0-9]{64}${END}`),
  token('databricks', 'dapi', `dapi[a-f0-9]{32}(?:-\\d)?${END}`),
  token('fly', ['fm2_', 'fo1_'], '(?:fm2_|fo1_)[A-Za-z0-9+/=_-]{40,}'),
  token('vault', ['hvs.', 'hvb.', 'hvr.'], 'hv[sbr]\\.[A-Za-z0-9_-]{24,}'),
  token('terraform', '.atlasv1.', '[A-Za-z0-9]{14}\\.atlasv1\\.[A-Za-z0-9_=-]{60,}'),
  token('pulumi', 'pul-', `pul-[a-f0-9]{40}${END}`),
  token('doppler', 'dp.', 'dp\\.(?:pt|st|ct|sa|scim|audit)\\.[A-Za-z0-9._-]{40,}'),
  token('planetscale', 'pscale_', 'pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{32,}'),
  token('supabase', ['sbp_', 'sb_secret_'], '(?:sbp_[a-f0-9]{40}|sb_secret_[A-Za-z0-9_-]{20,})'),
  token(
    'grafana',
    ['glc_', 'glsa_'],
    '(?:glc_[A-Za-z0-9+/=]{32,}|glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8})',
  ),
  token('new-relic', 'nrak-', `NRAK-[A-Z0-9]{27}${END}`),
  token('sentry', ['sntrys_', 'sntryu_'], 'sntry[su]_[A-Za-z0-9+/=_-]{40,}'),
  // Messages and money
  token('slack', ['xox', 'xapp-'], '(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}'),
  {
    id: 'webhook',
    keywords: ['hooks.slack.com', '/api/webhooks/', 'webhook.office.com'],
    find: /(hooks\.slack\.com\/(?:services|workflows|triggers)\/|discord(?:app)?\.com\/api\/webhooks\/|webhook\.office\.com\/webhookb2\/)([A-Za-z0-9_/@.-]{20,300})/dg,
  },
  {
    ...token(
      'discord',
      'discord',
      '[MNO][A-Za-z0-9_-]{23,27}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,40}',
    ),
  },
  token('telegram', ':aa', `[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}${END}`),
  token('twilio', 'sk', `SK[0-9a-f]{32}${END}`),
  token('sendgrid', 'sg.', 'SG\\.[A-Za-z0-9_-]{16,32}\\.[A-Za-z0-9_-]{32,64}'),
  token('mailgun', 'key-', `key-[0-9a-f]{32}${END}`),
  token(
    'stripe',
    ['sk_', 'rk_', 'whsec_'],
    '(?:[sr]k_(?:live|test|prod)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{24,})',
  ),
  token('shopify', 'shp', `shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}${END}`),
  token('square', 'sq0', 'sq0(?:atp|csp|idp)-[A-Za-z0-9_-]{22,43}'),
  // Of no vendor
  token('age', 'age-secret-key-1', 'AGE-SECRET-KEY-1[A-Z0-9]{58}'),
  {
    id: 'jwt',
    keywords: ['eyj'],
    find: /((?<![A-Za-z0-9_-]))(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){1,3})/dg,
  },
  {
    id: 'authorization',
    keywords: ['bearer', 'basic'],
    find: /((?<![A-Za-z0-9])(?:Bearer|bearer|BEARER|Basic)\s{1,8})([A-Za-z0-9._~+/=-]{8,})/dg,
    entropy: 2.5,
    words: true,
  },
  {
    id: 'authorization-header',
    keywords: ['authorization'],
    find: /(\bauthorization(?:\\{0,3}["'])?\s{0,4}[:=]\s{0,4}(?:\\{0,3}["'])?(?:(?:Bearer|Basic|Token|Negotiate|ApiKey)\s{1,4})?)([A-Za-z0-9._~+/=-]{6,})/dgi,
    words: true,
    entropy: 2,
  },
  {
    id: 'cookie',
    keywords: ['cookie'],
    find: /(\b(?:set-)?cookie(?:\\{0,3}["'])?:\s{0,4}(?:\\{0,3}["'])?)([A-Za-z0-9_.-]{1,64}=[^\s"'\\;]{6,2000}(?:;\s?[A-Za-z0-9_.-]{1,64}=[^\s"'\\;]{1,2000}){0,40})/dgi,
    words: true,
  },
  {
    id: 'url-password',
    keywords: ['://'],
    find: /(:\/\/[^\s/:@"'<>]{0,100}:)([^\s/@"'<>]{1,200})(?=@)/dg,
    words: true,
  },
  {
    id: 'login-option',
    keywords: ['-u ', '--user '],
    find: /(\bcurl\s[^\n]{0,200}?(?:-u|--user)\s{1,4}["']?[^\s:"']{1,64}:)([^\s"']{4,200})/dg,
    words: true,
  },
];
