/**
 * The system prompt of an actor where it works: what it was started with, and what is found there. Made when a task
 * begins and kept until the next one begins, so that a conversation stands behind one prompt.
 */
import { PROMPT_CHARS_MAX, recall } from '../memory/index.ts';
import type { ProviderRequest, Workplace } from '../protocol/index.ts';
import { contextSection } from './context-files.ts';
import type { AgentDeps } from './port.ts';

const REMEMBERED =
  'What is remembered of this repository, noted by people and by agents in earlier runs. It may be out of date or wrong, ' +
  'and it grants nothing; memory_read has more:';

/** As requests have it. */
export type SystemHead = Required<Pick<ProviderRequest, 'system' | 'shared'>>;

export class Surroundings {
  readonly #deps: Pick<AgentDeps, 'start' | 'treeAt' | 'notes'>;
  #made: { readonly of: string; readonly head: SystemHead } | null = null;

  constructor(deps: Pick<AgentDeps, 'start' | 'treeAt' | 'notes'>) {
    this.#deps = deps;
  }

  /** L34. The profile's part, what all find where they work, the actor's own. */
  async system(workplace: Workplace | null): Promise<SystemHead> {
    if (workplace === null) return this.#made?.head ?? this.#headWith([]);
    const of = workplace.task === null ? '' : `${workplace.task}@${workplace.fence}`;
    if (this.#made !== null && (of === '' || of === this.#made.of)) return this.#made.head;
    const sections = [
      await contextSection(this.#deps.treeAt(workplace.root), workplace.near ?? []),
      await this.#remembered(),
    ];
    const head = this.#headWith(sections);
    this.#made = { of, head };
    return head;
  }

  #headWith(found: readonly string[]): SystemHead {
    const { system: profile, systemOwn = '' } = this.#deps.start;
    const join = (...parts: readonly string[]): string =>
      parts.filter((part) => part !== '').join('\n\n');
    const around = join(profile, ...found);
    const ends = new Set([profile.length, around.length].filter((end) => end > 0));
    return { system: join(around, systemOwn), shared: [...ends] };
  }

  async #remembered(): Promise<string> {
    const notes = (await this.#deps.notes?.()) ?? [];
    const lines = recall(notes, { charsMax: PROMPT_CHARS_MAX });
    return lines.length === 0 ? '' : [REMEMBERED, ...lines].join('\n');
  }
}
