/** The recorded answers of one actor, as its thread plays them. */
import { type Track, trackOf } from '../../agent/index.ts';
import { EXIT, type Files, TroupeError } from '../../kernel/index.ts';
import type { ActorStart, CassetteHeader, CassetteLine } from '../../protocol/index.ts';

/** Null when the model of this actor is no recording. */
export async function readTrack(files: Files, start: ActorStart): Promise<Track | null> {
  const name = start.cassettes?.[start.model];
  if (name === undefined) {
    if (!start.model.startsWith('replay/')) return null;
    throw new TroupeError({
      code: 'replay/no-recording',
      message: `the recording of "${start.model}" is not in the folder of this run`,
      exit: EXIT.notFound,
    });
  }
  const folder = start.journalDirectory.replace(/\/[^/]*$/, '');
  const text = new TextDecoder().decode(await files.readFile(`${folder}/${name}`));
  const [head = '', ...rest] = text.split('\n');
  // Lines of others are passed over without being parsed.
  const own = `{"a":${JSON.stringify(start.name)},`;
  const lines = rest
    .filter((line) => line.startsWith(own))
    .map((line) => JSON.parse(line) as CassetteLine);
  return trackOf(JSON.parse(head) as CassetteHeader, lines);
}
