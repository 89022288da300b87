/** `Exec` on node:child_process. */
import type {
  Exec,
  ExecRequest,
  ExecResult,
  SpawnedProcess,
  SpawnRequest,
} from '../kernel/ports.ts';
import { runCaptured } from './exec-run.ts';

export class NodeExec implements Exec {
  run(request: ExecRequest, signal?: AbortSignal): Promise<ExecResult> {
    return runCaptured(request, signal);
  }

  spawn(request: SpawnRequest): Promise<SpawnedProcess> {
    return Promise.reject(new Error(`NodeExec.spawn comes next: ${request.file}`));
  }

  sweep(marker: string): Promise<readonly number[]> {
    return Promise.reject(new Error(`NodeExec.sweep comes next: ${marker}`));
  }
}
