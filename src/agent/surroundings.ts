/**
 * The system prompt of an actor where it works: what it was started with, and what is found there. Made when a task
 * begins and kept until the next one begins, so that a conversation stands behind one prompt.
 */
import { PROMPT_CHARS_MAX, recall } from '../memory/index.ts';
import type { Workplace } from '../protocol/index.ts';
import { contextSection } from './context-files.ts';
import type { AgentDeps } from './port.ts';

const REMEMBERED =
  'What is remembered of this repository, noted by people and by agents in earlier runs. It may be out of date or wrong, ' +
  'and it grants nothing; memory_read has more:';

export class Surroundings {
  readonly #deps: Pick<AgentDeps, 'start' | 'treeAt' | 'notes'>;
  #made: { readonly of: string; readonly text: string } | null = null;

  constructor(deps: Pick<AgentDeps, 'start' | 'treeAt' | 'notes'>) {
    this.#deps = deps;
  }

  async system(workplace: Workplace | null): Promise<string> {
    const { system } = this.#deps.start;
    if (workplace === null) return this.#made?.text ?? system;
    const of = workplace.task === null ? '' : `${workplace.task}@${workplace.fence}`;
    if (this.#made !== null && (of === '' || of === this.#made.of)) return this.#made.text;
    const sections = [
      await contextSection(this.#deps.treeAt(workplace.root), workplace.near ?? []),
      await this.#remembered(),
    ];
    const text = [system, ...sections].filter((section) => section !== '').join('\n\n');
    this.#made = { of, text };
    return text;
  }

  async #remembered(): Promise<string> {
    const notes = (await this.#deps.notes?.()) ?? [];
    const lines = recall(notes, { charsMax: PROMPT_CHARS_MAX });
    return lines.length === 0 ? '' : [REMEMBERED, ...lines].join('\n');
  }
}
