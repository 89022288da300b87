/** What the host of a supervisor gives its threads besides each start: how models are reached, and the keys for it. */
import type { ModelSettings, ProviderSecret } from '../../config/index.ts';

export interface GivenToThreads {
  readonly models: ModelSettings;
  readonly secrets: Readonly<Record<string, ProviderSecret>>;
}
