/** For commands that go on until something ends or the person stops watching, which is no failure. */
import { EXIT, type ExitCode } from '../kernel/errors.ts';
import type { Io } from './io.ts';

/** `work` gets a signal that aborts on Ctrl-C, TERM, or when nobody reads the output any more. */
export async function untilStopped(
  io: Io,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<ExitCode> {
  const stop = new AbortController();
  const forget = io.onSignal(() => stop.abort());
  try {
    await work(AbortSignal.any([stop.signal, io.gone]));
  } finally {
    forget();
  }
  return stop.signal.aborted ? EXIT.interrupted : EXIT.ok;
}
