/** A call that the supervisor runs for an actor, and what of its input decisions read. */
import type { ActorRequest } from '../../../protocol/index.ts';

export type Act = Extract<ActorRequest, { type: 'act' }>;
export type Input = Readonly<Record<string, unknown>>;

/** A field that is text; empty without it. */
export function text(input: Input, field: string): string {
  const value = input[field];
  return typeof value === 'string' ? value : '';
}

/** The texts of a field that is a list. */
export function strings(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.filter((item): item is string => typeof item === 'string');
}
