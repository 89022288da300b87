/** What the model server answers, before it is put into one of the two wire forms. */

export interface ModelAnswer {
  readonly text?: string | undefined;
  readonly thinking?: string | undefined;
  readonly calls?: readonly ModelCall[] | undefined;
  /** As the script says it: models take their time, and a story can need it. */
  readonly delayMs?: number | undefined;
  readonly stop?: 'length' | 'refusal' | 'pause' | 'overflow' | undefined;
}

export interface ModelCall {
  readonly tool: string;
  readonly input: unknown;
  /** Instead of the JSON of `input`, as a broken model writes it. */
  readonly raw?: string | undefined;
}

/** Why a request is turned down, as the real API says it. */
export interface Rejection {
  readonly status: number;
  readonly type: string;
  readonly message: string;
}

export type Json = Readonly<Record<string, unknown>>;

export function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export const bad = (message: string): Rejection => ({
  status: 400,
  type: 'invalid_request_error',
  message,
});

/** The first key of `value` that is not one of `known`. */
export function unknownKey(value: Json, known: readonly string[]): string | null {
  return Object.keys(value).find((key) => !known.includes(key)) ?? null;
}

export function isBlank(value: unknown): boolean {
  return typeof value !== 'string' || value.trim() === '';
}

/** JSON with sorted keys and without cache marks: what a prefix is compared by. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isJson(value)) return JSON.stringify(value) ?? 'null';
  const keys = Object.keys(value)
    .filter((key) => key !== 'cache_control' && value[key] !== undefined)
    .toSorted();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(',')}}`;
}
