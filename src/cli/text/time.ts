/** Times and amounts for people. */
import { counted } from '../../kernel/counted.ts';
import type { Usage } from '../../protocol/usage.ts';
import { totalTokens } from '../../protocol/usage.ts';

/** `9s`, `4m05s`, `2h03m`. */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  const two = (value: number): string => String(value).padStart(2, '0');
  if (minutes < 60) return `${minutes}m${two(seconds % 60)}s`;
  return `${Math.floor(minutes / 60)}h${two(minutes % 60)}m`;
}

/** How long until then: `in 9s`, `in 2h03m`, `in 12 days`; what has passed is `due`. */
export function countdown(ms: number): string {
  if (ms <= 0) return 'due';
  const days = Math.floor(ms / 86_400_000);
  return days < 3 ? `in ${duration(ms)}` : `in ${days} days`;
}

/** `$0.42`, `~$0.0031` when it is an estimate, `-` for nothing. */
export function money(usage: Usage): string {
  if (usage.costUsd === 0) return '-';
  const digits = usage.costUsd < 0.01 ? 4 : 2;
  return `${usage.estimated ? '~' : ''}$${usage.costUsd.toFixed(digits)}`;
}

/** `950`, `12.3k`, `4.5M`. */
export function tokens(usage: Usage): string {
  const total = totalTokens(usage);
  if (total === 0) return '-';
  if (total < 1000) return String(total);
  return total < 1_000_000 ? `${(total / 1000).toFixed(1)}k` : `${(total / 1_000_000).toFixed(1)}M`;
}

/** `812 bytes`, `12.3 KiB`, `4.5 MiB`. */
export function bytesText(bytes: number): string {
  if (bytes < 1024) return counted(bytes, 'byte');
  const kib = bytes / 1024;
  return kib < 1024 ? `${kib.toFixed(1)} KiB` : `${(kib / 1024).toFixed(1)} MiB`;
}
