/** Reading option values: commander gives text or true; what they mean is decided here, with messages that name them. */
import { parseDuration } from '../config/index.ts';
import type { OptionValues } from './command.ts';
import { usageError } from './failure.ts';

export function flag(options: OptionValues, name: string): boolean {
  return options[name] === true;
}

export function text(options: OptionValues, name: string): string | undefined {
  const value = options[name];
  return typeof value === 'string' ? value : undefined;
}

/** A positive amount like 2 or 0.50. */
export function amount(options: OptionValues, name: string, shown: string): number | undefined {
  const value = text(options, name);
  if (value === undefined) return undefined;
  const number = Number(value);
  if (!/^\d+(\.\d+)?$/.test(value) || !(number > 0) || !Number.isFinite(number)) {
    throw usageError(
      `${shown} ${JSON.stringify(value)} is no amount of US dollars`,
      'For example 2 or 0.50.',
    );
  }
  return number;
}

/** A count from 0. */
export function count(options: OptionValues, name: string, shown: string): number | undefined {
  const value = text(options, name);
  if (value === undefined) return undefined;
  if (!/^\d{1,15}$/.test(value)) {
    throw usageError(`${shown} ${JSON.stringify(value)} is no sequence number`, 'For example 120.');
  }
  return Number(value);
}

/** A whole number from 1. */
export function positive(options: OptionValues, name: string, shown: string): number | undefined {
  const value = text(options, name);
  if (value === undefined) return undefined;
  if (!/^[1-9]\d{0,14}$/.test(value)) {
    throw usageError(`${shown} ${JSON.stringify(value)} is no whole number`, 'For example 200000.');
  }
  return Number(value);
}

/** A time such as 90s or 45m, in milliseconds. */
export function time(options: OptionValues, name: string, shown: string): number | undefined {
  const value = text(options, name);
  if (value === undefined) return undefined;
  const ms = parseDuration(value);
  if (ms === null) {
    throw usageError(`${shown} ${JSON.stringify(value)} is no time`, 'For example 90s or 45m.');
  }
  return ms;
}
