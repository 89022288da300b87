/**
 * Secrets out of what is shown: by their shape and by known values. Each pattern is bounded, so that no text takes long.
 *
 * Invariants
 * - E2 No string of an event's data is shown before it went through here.
 */
import { SECRET_MIN } from './limits.ts';

const MARK = '[redacted]';

/** Shapes of secrets; `$1` is what stays. */
const SHAPES: readonly RegExp[] = [
  /(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g,
  /()\bsk-[A-Za-z0-9_-]{16,}/g,
  /()\bgh[oprsu]_[A-Za-z0-9]{20,}/g,
  /()\bgithub_pat_[A-Za-z0-9_]{20,}/g,
  /()\bglpat-[A-Za-z0-9_-]{16,}/g,
  /()\bnpm_[A-Za-z0-9]{30,}/g,
  /()\bxox[abeoprs]-[A-Za-z0-9-]{10,}/g,
  /()\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /()\bAIza[A-Za-z0-9_-]{35}/g,
  /()\beyJ[A-Za-z0-9_-]{8,2000}\.[A-Za-z0-9_-]{8,8000}\.[A-Za-z0-9_-]{8,2000}/g,
  /(\b[Bb]earer\s{1,8})[A-Za-z0-9._~+/=-]{8,}/g,
  /(:\/\/[^\s/:@]{1,100}:)[^\s/@]{1,200}(?=@)/g,
];

export function redact(text: string, secrets: readonly string[] = []): string {
  let shown = text;
  for (const secret of secrets) {
    if (secret.length >= SECRET_MIN) shown = shown.replaceAll(secret, MARK);
  }
  for (const shape of SHAPES) shown = shown.replace(shape, `$1${MARK}`);
  return shown;
}

/** Every string in plain data, at any depth. Keys stay: they are ours. */
export function redactData(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item) => redactData(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, redactData(item, change)]),
  );
}
