/** The socket of the supervisor that holds a repository, as its `supervisor.json` and `token` tell. */
import { readFile } from 'node:fs/promises';
import type { Client } from '../client/index.ts';
import { connectSocket } from '../client/socket.ts';
import type { Places, Workspace } from '../control/index.ts';
import { isTroupeError, systemCode } from '../kernel/errors.ts';

/** For an answer that needs no waiting. */
const ANSWER_MS = 3_000;

/** Null when there is none, or none that can be reached. Throws when it refuses us. */
export function connectTo(workspace: Workspace): Promise<Client | null> {
  return connectAt(workspace.places, ANSWER_MS);
}

export async function connectAt(places: Places, timeoutMs: number): Promise<Client | null> {
  const socketPath = await socketOf(places);
  const token = await readOrNull(places.token);
  if (socketPath === null || token === null) return null;
  try {
    return await connectSocket({ socketPath, token, timeoutMs, client: 'troupe cli' });
  } catch (error) {
    if (isTroupeError(error) && error.code.startsWith('client/')) return null;
    throw error;
  }
}

async function socketOf(places: Places): Promise<string | null> {
  const text = await readOrNull(places.supervisorFile);
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || !('socket' in value)) return null;
    return typeof value.socket === 'string' ? value.socket : null;
  } catch {
    return null;
  }
}

async function readOrNull(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}
