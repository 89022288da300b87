/** Posts JSON for notices of jobs. Where to was judged before; a redirect is not followed, since it is another place. */
import { TroupeError } from '../kernel/errors.ts';

const POST_TIMEOUT_MS = 10_000;

export async function postJson(url: string, body: unknown): Promise<void> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    redirect: 'error',
    signal: AbortSignal.timeout(POST_TIMEOUT_MS),
  });
  await answer.body?.cancel();
  if (answer.ok) return;
  throw new TroupeError({ code: 'cron/post', message: `it was answered with ${answer.status}` });
}
