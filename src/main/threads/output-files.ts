/** Complete results that are too large for a conversation, as files of the run's `outputs/` folder. */
import { type Clock, type Files, mintId, type Random, systemCode } from '../../kernel/index.ts';
import type { Outputs } from '../../tools/index.ts';

export interface OutputFilesDeps {
  readonly files: Files;
  readonly clock: Clock;
  readonly random: Random;
  readonly directory: string;
}

/** What tools and models name an output by; nothing else is read. */
const SHOWN_PATH = /^outputs\/([a-z0-9_-]{1,64})\.log$/;

export function makeOutputs(deps: OutputFilesDeps): Outputs {
  const { files, directory } = deps;
  return {
    async save(text) {
      const id = mintId('log', deps);
      const file = await files.open(`${directory}/${id}.log`, 'create');
      try {
        let rest: Uint8Array = new TextEncoder().encode(text);
        while (rest.length > 0) rest = rest.subarray(file.write(rest));
        // Before the record that names it.
        await file.datasync();
      } finally {
        await file.close();
      }
      await files.syncDirectory(directory);
      return { path: `outputs/${id}.log` };
    },
    async read(path, maxBytes, offset = 0) {
      const id = SHOWN_PATH.exec(path)?.[1];
      if (id === undefined) return null;
      try {
        const file = await files.open(`${directory}/${id}.log`, 'read');
        try {
          return { bytes: await file.read(offset, maxBytes), size: await file.size() };
        } finally {
          await file.close();
        }
      } catch (error) {
        if (systemCode(error) === 'ENOENT') return null;
        throw error;
      }
    },
  };
}
