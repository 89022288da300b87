/** One rule of a policy or of a team file as people write it, and its schema. What it must not say is for room `permissions`. */
import * as z from 'zod';
import type { Effect, PermissionRule, RuleMatchers } from '../protocol/team.ts';
import { name, object, text } from './schema.ts';

export interface RawRule extends RuleMatchers {
  readonly id: string;
  readonly effect: Effect;
  readonly tool: string | readonly string[];
  readonly reason?: string | undefined;
}

export const effect: z.ZodType<Effect> = z.enum(['allow', 'ask', 'deny']);

const token = z.union([
  text,
  object({ in: z.array(text).min(1).optional(), glob: text.optional() }),
]);

/** A token as an object has one of its two keys; which one is told apart here, with words for people. */
const tokens = z.array(token).check((context) => {
  for (const [index, one] of context.value.entries()) {
    if (typeof one === 'object' && (one.in === undefined) === (one.glob === undefined)) {
      context.issues.push({
        code: 'custom',
        message: 'has `in` or `glob`',
        input: one,
        path: [index],
      });
    }
  }
}) as unknown as z.ZodType<RuleMatchers['argv'] & object>;

export const ruleSchema: z.ZodType<RawRule> = object({
  id: name,
  effect,
  tool: z.union([text, z.array(text).min(1)]),
  reason: text.optional(),
  argv: tokens.optional(),
  exact: z.boolean().optional(),
  path: z
    .union([
      text,
      object({ under: text.optional(), outside: text.optional(), glob: text.optional() }),
    ])
    .optional(),
  host: z.union([text, object({ domain: text })]).optional(),
  server: text.optional(),
  name: text.optional(),
  requires: object({ sandbox: z.boolean() }).optional(),
  pins: z.array(text).optional(),
});

/** Keys that are not given are not there. */
export function resolveRule({ reason, ...raw }: RawRule): PermissionRule {
  const given = Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== undefined));
  return { ...(given as Omit<RawRule, 'reason'>), reason: reason ?? null };
}
