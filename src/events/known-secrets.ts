/** Values that a process knows to be secret, in every form in which they may turn up in a text. */
import { KNOWN_MAX, SECRET_MIN } from './limits.ts';
import { isPlaceholder, isSecretName } from './secret-names.ts';

export interface Known {
  readonly pattern: RegExp;
  /** Those that are more than one word. */
  readonly spaced: readonly string[];
}

/** Null when there are none. */
export function knownSecrets(secrets: Iterable<string>): Known | null {
  const forms = new Set<string>();
  for (const secret of [...new Set(secrets)].slice(0, KNOWN_MAX)) {
    if (secret.length < SECRET_MIN) continue;
    for (const form of formsOf(secret)) if (form.length >= SECRET_MIN) forms.add(form);
  }
  if (forms.size === 0) return null;
  const longestFirst = [...forms].toSorted((a, b) => b.length - a.length);
  return {
    pattern: new RegExp(longestFirst.map(escaped).join('|'), 'g'),
    spaced: longestFirst.filter((form) => /\s/.test(form)),
  };
}

/** From where on the end of the text may be the beginning of one; its length: nowhere. */
export function beginsAt(spaced: readonly string[], text: string, from: number): number {
  let first = text.length;
  for (const form of spaced) {
    const start = Math.max(from, text.length - form.length + 1);
    let at = text.indexOf(form[0] ?? '', start);
    while (at >= 0 && at < first) {
      if (form.startsWith(text.slice(at))) first = at;
      at = text.indexOf(form[0] ?? '', at + 1);
    }
  }
  return first;
}

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&');

/** Raw, in JSON (once and twice), in an address, in base64 at each place that it can have in one. */
function formsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const url = encodeURIComponent(secret.replaceAll(/[\ud800-\udfff]/gu, '\ufffd'));
  return [
    secret,
    json,
    JSON.stringify(json).slice(1, -1),
    url,
    url.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
    url.replaceAll('%20', '+'),
    ...base64Forms(secret),
  ];
}

/** Of the three alignments; characters that also hold bits of the neighbours are left out. */
function base64Forms(secret: string): string[] {
  const bytes = new TextEncoder().encode(secret);
  const forms: string[] = [];
  for (const before of [0, 1, 2]) {
    const padded = String.fromCharCode(...new Uint8Array(before), ...bytes);
    const first = [0, 2, 3][before] ?? 0;
    const whole = Math.floor((padded.length * 8) / 6);
    const inner = btoa(padded).slice(first, whole);
    forms.push(inner, inner.replaceAll('+', '-').replaceAll('/', '_'));
  }
  // Short ones would be found in other texts.
  return forms.filter((form) => form.length >= 10);
}

/** Values of variables that are secrets by their names. What is a word, a path or a number would redact ordinary texts. */
export function secretsOfEnvironment(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value]) => {
    if (value === undefined || !isSecretName(name) || value.length < 8 || value.length > 8_192)
      return [];
    const ordinary =
      /^(?:[a-z]+|[A-Z]+|\d{1,9}|[~.]{0,2}\/.*)$/.test(value) || isPlaceholder(value);
    return ordinary ? [] : [value];
  });
}
