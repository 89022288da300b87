/**
 * What is a secret by the name that it has: keys of objects, variables, and assignments in any text (`db_password = …`,
 * `"apiKey": "…"`). A name alone is not believed in a text: the value has to look like one, too.
 */

/** The words by which a name is one of a secret; after them only what does not make another thing of it. */
const NAMES =
  'passw(?:or)?d|passwd|passphrase|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|secret[_-]?key|signing[_-]?key|encryption[_-]?key|master[_-]?key|account[_-]?key|auth[_-]?key|credentials?';

/** `tokenizer` is no token, and a count, a name or the digest of one is no secret. */
const AFTER = /^(?:s?|[_-].*|[A-Z0-9].*)$/;
const ABOUT =
  /(?:hash|sha\d*|digest|checksum|id|ids|count|limit|max|min|type|kind|name|url|uri|file|path|dir|length|size|ttl|expir\w*|version|env|index|budget|usage|used|field|label|param|variable|header|prefix|pattern|policy|rule|hint|age|days|at)$/i;

const WHOLE_NAME = new RegExp(
  `^(?:.*[_.-])?(?:${NAMES}|authorization|proxy-authorization|cookies?|set-cookie|pass|auth[_-]?token|x-api-key)s?(?:[_-](?:old|new|prod|production|dev|test|staging|live|\\d+|value|base64|b64))?$`,
  'i',
);
const CAMEL_NAME =
  /[a-z](?:Password|Passphrase|Secret|Token|ApiKey|AccessKey|PrivateKey|SecretKey|Credentials?)$/;

/** Whether a key or a variable of this name holds a secret. */
export function isSecretName(name: string): boolean {
  return name.length <= 100 && (WHOLE_NAME.test(name) || CAMEL_NAME.test(name));
}

const KEYWORDS = ['pass', 'pwd', 'secret', 'token', 'key', 'credential'];

const ASSIGNED = new RegExp(
  `((?:${NAMES})([A-Za-z0-9_-]{0,24})(?:\\\\{0,3}["'\`])?\\]?\\s{0,4}(?:=>|:=|={1,3}|:)\\s{0,4})` +
    `(?:(\\\\{0,3}["'\`])([^"'\`\\\\\\n]{6,300})\\3|([^\\s"'\`\\\\,;<>(){}[\\]|]{8,300}))`,
  'dgi',
);

/** `--password hunter2x`: options with their value behind a space, or as the next one of a list. */
const OPTION =
  /((?<![A-Za-z0-9])--?(?:password|passwd|passphrase|token|secret|api-key|access-token|auth-token|client-secret)(?:\\{0,3}["'`])?(?:\s|,\s?)\s{0,2}(?:\\{0,3}["'`])?)([^\s"'`\\<>(){}[\]|,-][^\s"'`\\<>(){}[\]|,]{5,299})/dgi;

/** Whether what comes after it in a list of arguments is a secret. */
export function isSecretOption(word: string): boolean {
  return /^--?(?:password|passwd|passphrase|token|secret|api-key|access-token|auth-token|client-secret)$/i.test(
    word,
  );
}

export type Span = readonly [start: number, end: number];

/** Of values that are assigned to names of secrets and look like one. */
export function assignedSecrets(text: string, lower: string): Span[] {
  if (!KEYWORDS.some((word) => lower.includes(word))) return [];
  const spans: Span[] = [];
  for (const match of text.matchAll(ASSIGNED)) {
    const quoted = match[4] !== undefined;
    const span = match.indices?.[quoted ? 4 : 5];
    const [, , after = '', , inQuotes, bare] = match;
    const value = inQuotes ?? bare ?? '';
    if (span === undefined || !AFTER.test(after) || ABOUT.test(after)) continue;
    if (text[span[1]] === '(' || !looksSecret(value, quoted)) continue;
    spans.push(span);
  }
  for (const match of text.matchAll(OPTION)) {
    const span = match.indices?.[2];
    if (span !== undefined && looksSecret(match[2] ?? '', true)) spans.push(span);
  }
  return spans;
}

const CODE =
  /^[A-Za-z_$][\w$]*(?:\??\.[A-Za-z_$][\w$]*)+$|^[A-Z][A-Z0-9_]*$|^[a-z]+(?:[A-Z][a-z]+)+\d?$/;
const PLACEHOLDER =
  /^(?:[$%<{[]|[*.xX_-]+$|(?:your|my|the|an?|some|example|sample|dummy|fake|change|replace|insert|placeholder|redacted|\[redacted|none|null|undefined|true|false|string|env|process|secrets?|vault|file|https?|op):?(?:[^a-zA-Z0-9]|$))/i;

export const isPlaceholder = (value: string): boolean => PLACEHOLDER.test(value);

function looksSecret(value: string, quoted: boolean): boolean {
  if (isPlaceholder(value)) return false;
  const digit = /\d/.test(value);
  const letter = /[A-Za-z]/.test(value);
  if (!letter || /\s\S+\s/.test(value)) return false;
  if (!quoted && CODE.test(value)) return false;
  if (/^(?:[~.]{0,2}\/|[A-Za-z]:\\)/.test(value)) return false;
  const mixed = digit || /[^A-Za-z0-9\s_.-]/.test(value);
  const bits = entropyOf(value);
  if (mixed) return bits >= (value.length < 12 ? 2.2 : 2.8);
  return value.length >= 20 && /[a-z][A-Z]/.test(value) && bits >= 3.8 && !/[\s.]/.test(value);
}

/** Shannon's, in bits a character. */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) {
    const part = count / text.length;
    bits -= part * Math.log2(part);
  }
  return bits;
}
