/** Payloads of a run that its records hold by reference (M8), for those who read beside the writer. */
import { BlobStore } from '../journal/index.ts';
import { blobsFolder } from './places.ts';
import type { Workspace } from './workspace.ts';

export function blobsOf(workspace: Workspace, run: string): BlobStore {
  const { files, sha256 } = workspace.deps;
  return new BlobStore({ files, directory: blobsFolder(workspace.places, run), hash: sha256 });
}
