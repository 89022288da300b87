/**
 * A script: what a scripted "model" answers, turn by turn (format: `docs/scripts.md`). Types and strict schema; the
 * types are written by hand and the schema is checked against them.
 */
import { z } from 'zod';
import { DELAY_MS_MAX } from './limits.ts';

export interface MailCondition {
  readonly type?: string | undefined;
  readonly from?: string | undefined;
  readonly task?: string | undefined;
  readonly contains?: string | undefined;
}

export interface ResultCondition {
  readonly tool?: string | undefined;
  readonly ok?: boolean | undefined;
  readonly contains?: string | undefined;
}

/** All parts that are given must hold. */
export interface Condition {
  readonly mail?: MailCondition | undefined;
  readonly result?: ResultCondition | undefined;
  readonly text?: { readonly contains: string } | undefined;
}

export interface ScriptCall {
  readonly tool: string;
  readonly input: unknown;
}

export interface ScriptUsage {
  readonly input?: number | undefined;
  readonly output?: number | undefined;
  readonly cache_read?: number | undefined;
  readonly cache_write?: number | undefined;
  readonly usd?: number | undefined;
}

export interface ScriptFailure {
  readonly message: string;
  readonly code?: string | undefined;
  readonly retryable?: boolean | undefined;
}

export interface ScriptAnswer {
  readonly text?: string | undefined;
  /** Before the first piece. */
  readonly delay?: number | undefined;
  /** Between two pieces. */
  readonly pace?: number | undefined;
  readonly calls?: readonly ScriptCall[] | undefined;
  readonly usage?: ScriptUsage | undefined;
  readonly stop?: 'length' | 'refusal' | undefined;
  /** The model call fails instead of answering. */
  readonly fail?: ScriptFailure | undefined;
}

export interface ScriptAlternative extends ScriptAnswer {
  readonly when?: Condition | undefined;
}

/** Alternatives, or one answer. */
export interface ScriptTurn extends ScriptAnswer {
  readonly any?: readonly ScriptAlternative[] | undefined;
}

export interface ScriptReaction {
  readonly when: Condition;
  readonly once?: boolean | undefined;
  readonly answer: ScriptAnswer;
}

export interface ScriptSection {
  readonly actor?: string | undefined;
  readonly profile?: string | undefined;
  /** A task's id, or `none`. */
  readonly task?: string | undefined;
  /** Looks at what the conversation began with. */
  readonly when?: Condition | undefined;
  readonly on?: readonly ScriptReaction[] | undefined;
  readonly turns: readonly ScriptTurn[];
  readonly otherwise?: ScriptAnswer | undefined;
}

export interface ScriptBody {
  readonly version: 1;
  readonly pace?: number | undefined;
  readonly sections: readonly ScriptSection[];
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000 };

const duration = z.union([z.number(), z.string()]).transform((value, context): number => {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m)?$/.exec(String(value));
  const ms = match === null ? Number.NaN : Number(match[1]) * (UNITS[match[2] ?? 'ms'] ?? 1);
  if (ms >= 0 && ms <= DELAY_MS_MAX) return ms;
  context.addIssue({
    code: 'custom',
    message: `expected a duration of at most ${DELAY_MS_MAX / 60_000}m, such as 300ms, 2s or 1m`,
  });
  return z.NEVER;
});

const text = z.string();
const someOf = (value: object): boolean => Object.keys(value).length > 0;

const mailCondition: z.ZodType<MailCondition> = z
  .strictObject({
    type: text.optional(),
    from: text.optional(),
    task: text.optional(),
    contains: text.optional(),
  })
  .refine(someOf, 'a condition needs at least one of type, from, task, contains');

const resultCondition: z.ZodType<ResultCondition> = z
  .strictObject({
    tool: text.optional(),
    ok: z.boolean().optional(),
    contains: text.optional(),
  })
  .refine(someOf, 'a condition needs at least one of tool, ok, contains');

const condition: z.ZodType<Condition> = z
  .strictObject({
    mail: mailCondition.optional(),
    result: resultCondition.optional(),
    text: z.strictObject({ contains: text.min(1) }).optional(),
  })
  .refine(someOf, 'a condition needs at least one of mail, result, text');

const call: z.ZodType<ScriptCall> = z
  .record(z.string(), z.unknown())
  .transform((value, context): ScriptCall => {
    const [entry, ...more] = Object.entries(value);
    if (entry !== undefined && more.length === 0) return { tool: entry[0], input: entry[1] ?? {} };
    context.addIssue({
      code: 'custom',
      message: 'a call is one tool name with its parameters: { read_file: { path: a.js } }',
    });
    return z.NEVER;
  });

const count = z.number().int().nonnegative();

const answerFields = {
  text: text.optional(),
  delay: duration.optional(),
  pace: duration.optional(),
  calls: z.array(call).optional(),
  usage: z
    .strictObject({
      input: count.optional(),
      output: count.optional(),
      cache_read: count.optional(),
      cache_write: count.optional(),
      usd: z.number().nonnegative().optional(),
    })
    .optional(),
  stop: z.enum(['length', 'refusal']).optional(),
  fail: z
    .strictObject({
      message: text.min(1),
      code: text.optional(),
      retryable: z.boolean().optional(),
    })
    .optional(),
};

const EMPTY_ANSWER = 'an answer needs at least one of text, calls, fail';
const answers = (value: ScriptAnswer): boolean =>
  value.text !== undefined || value.calls !== undefined || value.fail !== undefined;

const answer: z.ZodType<ScriptAnswer> = z.strictObject(answerFields).refine(answers, EMPTY_ANSWER);

const alternative: z.ZodType<ScriptAlternative> = z
  .strictObject({ when: condition.optional(), ...answerFields })
  .refine(answers, EMPTY_ANSWER);

const turn: z.ZodType<ScriptTurn> = z
  .strictObject({ any: z.array(alternative).min(1).optional(), ...answerFields })
  .refine(
    (value) => value.any === undefined || Object.keys(value).length === 1,
    '`any` stands alone in its turn: put text, calls and the rest into its alternatives',
  )
  .refine((value) => value.any !== undefined || answers(value), EMPTY_ANSWER);

const section: z.ZodType<ScriptSection> = z.strictObject({
  actor: text.optional(),
  profile: text.optional(),
  task: text.optional(),
  when: condition.optional(),
  on: z.array(z.strictObject({ when: condition, once: z.boolean().optional(), answer })).optional(),
  turns: z.array(turn),
  otherwise: answer.optional(),
});

export const scriptSchema: z.ZodType<ScriptBody> = z.strictObject({
  version: z.literal(1),
  pace: duration.optional(),
  sections: z.array(section).min(1),
});
