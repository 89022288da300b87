/**
 * Secrets of many kinds and what only looks like them. They are put together when they are asked for, so that no scanner of
 * repositories finds one here; none of them was ever valid.
 */

/** Deterministic letters and digits that are as mixed as those of a token. */
export function mixed(length: number, alphabet: string = ALNUM, seed: number = 7): string {
  let state = seed * 2_654_435_761;
  let text = '';
  for (let index = 0; index < length; index += 1) {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9 + index) >>> 0;
    text += alphabet[state % alphabet.length];
  }
  return text;
}

const ALNUM = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const UPPER = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
const HEX = '0123456789abcdef';
const BASE64 = `${ALNUM}+/`;
const URL64 = `${ALNUM}-_`;
const join = (...parts: string[]): string => parts.join('');

export interface PlantedSecret {
  readonly name: string;
  /** In what it stands; `@` is its place. */
  readonly around: string;
  /** What must not be shown; of several lines, each. */
  readonly secret: string;
}

export function secretCorpus(): PlantedSecret[] {
  const found: PlantedSecret[] = [];
  const add = (name: string, secret: string, around = 'before @ after'): void => {
    found.push({ name, secret, around });
  };
  add('anthropic', join('sk-', 'ant-api03-', mixed(80, URL64)), 'key @');
  add('openai project', join('sk-', 'proj-', mixed(60, URL64)), '"@"');
  add('openai old', join('sk-', mixed(48)));
  add('openrouter', join('sk-', 'or-v1-', mixed(64, HEX)), 'x=@;');
  add('hugging face', join('hf', '_', mixed(34)));
  add('groq', join('gs', 'k_', mixed(52)));
  add('xai', join('xa', 'i-', mixed(80)));
  add('perplexity', join('pp', 'lx-', mixed(48)));
  add('replicate', join('r8', '_', mixed(37)));
  for (const kind of ['p', 'o', 'u', 's', 'r'])
    add(`github gh${kind}`, join('gh', kind, '_', mixed(36)), 'https://@/x');
  add('github fine', join('github', '_pat_', mixed(22), '_', mixed(59)));
  add('gitlab', join('gl', 'pat-', mixed(20, URL64)), "token: '@'");
  add('gitlab runner', join('gl', 'rt-', mixed(20, URL64)));
  add('npm', join('npm', '_', mixed(36)), '//registry.example/:_authToken=@');
  add('pypi', join('pypi-', 'AgEIcHlwaS5vcmc', mixed(120, URL64)));
  add('rubygems', join('rubygems', '_', mixed(48, HEX)));
  add('docker', join('dckr', '_pat_', mixed(27, URL64)));
  add('postman', join('PM', 'AK-', mixed(24, HEX), '-', mixed(34, HEX)));
  add('linear', join('lin', '_api_', mixed(40)));
  add('notion', join('nt', 'n_', mixed(46)));
  add('atlassian', join('ATA', 'TT3', mixed(170, URL64), '=', mixed(8, HEX)));
  add('figma', join('fi', 'gd_', mixed(40, URL64)));
  add('aws id', join('AK', 'IA', mixed(16, UPPER)), 'aws_access_key_id = @');
  add('aws secret', mixed(40, BASE64), 'aws_secret_access_key = @');
  add('aws secret in json', mixed(40, BASE64, 9), '{"SecretAccessKey": "@"}');
  add('aws session', mixed(300, BASE64), 'export AWS_SESSION_TOKEN=@');
  add('google api', join('AI', 'za', mixed(35, URL64)), '?key=@&x=1');
  add('google oauth', join('ya', '29.', mixed(100, URL64)));
  add('google client', join('GOC', 'SPX-', mixed(28, URL64)));
  add(
    'azure storage',
    join(mixed(86, BASE64), '=='),
    'AccountName=x;AccountKey=@;EndpointSuffix=y',
  );
  add('azure app', join(mixed(3), '8Q', '~', mixed(34, URL64)));
  add('digitalocean', join('dop', '_v1_', mixed(64, HEX)));
  add('databricks', join('da', 'pi', mixed(32, HEX)));
  add('vault', join('hv', 's.', mixed(90, URL64)));
  add('terraform', join(mixed(14), '.atlas', 'v1.', mixed(67, URL64)));
  add('pulumi', join('pu', 'l-', mixed(40, HEX)));
  add('doppler', join('dp', '.pt.', mixed(43)));
  add('planetscale', join('pscale', '_tkn_', mixed(43, URL64)));
  add('grafana', join('gl', 'sa_', mixed(32), '_', mixed(8, HEX)));
  add('new relic', join('NR', 'AK-', mixed(27, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789')));
  add('sentry', join('sn', 'trys_', mixed(80, BASE64)));
  add('slack', join('xo', 'xb-', '123456789012-1234567890123-', mixed(24)));
  add('slack hook', join('T0123ABCD/B0123ABCD/', mixed(24)), 'https://hooks.slack.com/services/@');
  add(
    'discord hook',
    join('123456789012345678/', mixed(68, URL64)),
    'https://discord.com/api/webhooks/@',
  );
  add('telegram', join('123456789', ':A', 'A', mixed(33, URL64)));
  add('twilio', join('S', 'K', mixed(32, HEX)));
  add('sendgrid', join('S', 'G.', mixed(22, URL64), '.', mixed(43, URL64)));
  add('mailgun', join('ke', 'y-', mixed(32, HEX)));
  add('stripe', join('sk', '_live_', mixed(24)));
  add('stripe hook', join('wh', 'sec_', mixed(32)));
  add('shopify', join('shp', 'at_', mixed(32, HEX)));
  add('square', join('sq0', 'atp-', mixed(22, URL64)));
  add('age', join('AGE-SECRET', '-KEY-1', mixed(58, UPPER)));
  add(
    'jwt',
    join('ey', 'J', mixed(33, URL64), '.ey', 'J', mixed(120, URL64), '.', mixed(43, URL64)),
  );
  add('bearer', mixed(32), 'authorization: Bearer @');
  add('basic', join(mixed(30, BASE64), '=='), 'Authorization: Basic @');
  add('bearer in json', mixed(32, ALNUM, 3), '{\\"Authorization\\":\\"Bearer @\\"}');
  add('cookie', join('session=', mixed(40)), 'Cookie: @');
  add('set-cookie', join('sid=', mixed(40)), 'set-cookie: @; HttpOnly');
  add('address', join('hun', 'ter2x'), 'postgres://app:@@db.internal:5432/app');
  add('password, variable', join('Tr0ub4', 'dor&3'), 'export DB_PASSWORD=@');
  add('password, yaml', join('c0rrect', '-h0rse'), 'db:\n  password: "@"\n');
  add('password, code', join('s3cr3t', 'P4ss!'), "const dbPassword = '@';");
  add('client secret', mixed(40), '"clientSecret" : "@",');
  add('api key, env file', mixed(32, HEX), 'DATADOG_API_KEY=@\nOTHER=1');
  add('api key, in json in json', mixed(32, HEX, 5), '{"text":"{\\"api_key\\":\\"@\\"}"}');
  add('option', join('pa55', 'w0rd!x'), 'mysql --password @ -h db');
  add('curl login', join('pa55', 'w0rdy'), 'curl -u deploy:@ https://x.example/');
  return found;
}

/** A private key in armour; `prefix` stands before each line, as in a numbered listing or a diff. */
export function privateKey(
  kind = 'RSA ',
  prefix = '',
): { readonly text: string; readonly body: string[] } {
  const body = [1, 2, 3, 4, 5]
    .map((seed) => mixed(64, BASE64, seed))
    .concat(`${mixed(21, BASE64)}=`);
  const lines = [`-----BEGIN ${kind}PRIVATE`, ...body, `-----END ${kind}PRIVATE`];
  const text = lines
    .map((line) => (line.startsWith('-----') ? `${line} KEY-----` : line))
    .map((line) => prefix + line)
    .join('\n');
  return { text, body };
}

/** Each must stay as it is. */
export function harmlessCorpus(): string[] {
  return [
    `commit ${mixed(40, HEX)}`,
    `sha256:${mixed(64, HEX)}`,
    `"integrity": "sha512-${mixed(86, BASE64)}=="`,
    `"resolved": "https://packages.example/zod/-/zod-4.1.12.tgz"`,
    `checksum = "${mixed(64, HEX)}"`,
    `  checksum: 10c0/${mixed(128, HEX)}`,
    `github.com/x/y v1.2.3 h1:${mixed(43, BASE64)}=`,
    '8f14e45f-ceea-467f-9e1d-3c9a1b2c4d5e',
    '"id": "018f4c1e-7b1a-7c3d-9a55-0c2b7a3f9d10"',
    `data:image/png;base64,iVBORw0KGgo${mixed(400, BASE64)}==`,
    `<img src="data:image/gif;base64,R0lGODlh${mixed(60, BASE64)}">`,
    `index ${mixed(7, HEX)}..${mixed(7, HEX)} 100644`,
    `"digest": "${mixed(64, HEX)}"`,
    `tokenHash: "${mixed(64, HEX)}"`,
    `password_digest = "${mixed(60, HEX)}"`,
    'max_tokens: 4096',
    '"tokens": 123456, "total_tokens": 99999999',
    '"tokenizer": "cl100k_base_v2"',
    'const token = await readToken(path);',
    'const password = process.env.DB_PASSWORD;',
    'password: z.string().min(8),',
    'token: string | undefined;',
    "const secret = randomBytes(32).toString('hex');",
    'export API_KEY=$MY_API_KEY',
    'api_key_env: MY_PROVIDER_KEY',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in files of workflows
    'NPM_TOKEN: ${{ secrets.NPM_TOKEN }}',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in scripts
    'PASSWORD=${PASSWORD:?is not set}',
    'password: <your password here 1>',
    'password = "changeme"',
    'token: xxxxxxxxxxxxxxxx',
    'secret: ****************',
    'api-key: your-api-key-1234',
    'https://user@example.com/path',
    'http://localhost:3000/@scope/pkg',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: as it stands in scripts
    'https://x:${TOKEN}@github.com/a/b',
    'git@github.com:owner/repo.git',
    'The token of the parser is an identifier or a keyword.',
    'Ask for the password, then for the second factor.',
    'the secret: keep functions short and files small',
    'A bearer of good news; the basic idea is simple.',
    'Basic authentication is described in RFC 7617.',
    'Authorization: the caller must be an admin',
    'Cookie: a small text that a browser keeps',
    'sk-learn and sk-estimator-doc-link are names of classes',
    'class="sk-toggleable__label-arrow sk-container-repr"',
    'disk-space-monitoring-and-alerting-tool',
    'task-0123456789abcdef0123 and mask-abcdefghijklmnop',
    'npm_config_cache=/tmp/cache npm_lifecycle_event=test',
    'key-value pairs, key-frames and key-down',
    '-----BEGIN CERTIFICATE-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A\n-----END CERTIFICATE-----',
    '-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----',
    `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${mixed(43, BASE64)} me@host`,
    `SHA256:${mixed(43, BASE64)} me@host (ED25519)`,
    "if (text.includes('-----BEGIN PRIVATE KEY-----')) return 1;",
    'src/auth/token.ts:12:5 error TS2345: Argument of type',
    'tests/unit/secrets/password-policy.test.ts (12 tests) 34ms',
    'passwordMinLength: 12, passwordMaxAge: "90days"',
    'token_type: "bearer", expires_in: 3600',
    'token_endpoint: "https://id.example/oauth2/v2.0/token"',
    'secretName: "app-secrets-v2"',
    'run 2026-11-30-abc123 task build-42 attempt 3',
    'password_file: /run/secrets/db_password_1',
    'import { token2, secret9 } from "./x1.ts";',
    'passed 123 of 124; keyboard: qwerty1',
    'monkey: banana42, turkey: dinner99',
    `ETag: W/"${mixed(27, BASE64)}"`,
    `nonce="${mixed(22, BASE64)}=="`,
    `sourceMappingURL=data:application/json;base64,${mixed(120, BASE64)}`,
    `Sec-WebSocket-Key1: 18x 6]8vM;54 *(5:  {   U1]8  z [  8`,
  ];
}
