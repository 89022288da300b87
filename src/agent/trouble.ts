import type { FailureData } from '../protocol/index.ts';

/** Why an agent can't go on. */
export interface Trouble {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly data?: FailureData | undefined;
}
