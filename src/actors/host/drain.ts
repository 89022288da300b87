/**
 * Reading a port without waiting for the loop. Node 20 crashes the process when a port is read after its other side has
 * closed it, so a port is watched from the start and never read once it is closed.
 */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';

const open = new WeakSet<MessagePort>();

/** Before any other listener for `close`, which might read. */
export function watchPort(port: MessagePort): void {
  open.add(port);
  port.once('close', () => open.delete(port));
}

/** Hands over, in order, what has arrived; nothing from a port that is closed or not watched. */
export function drainPort(port: MessagePort, receive: (text: string) => void): void {
  while (open.has(port)) {
    const next = receiveMessageOnPort(port);
    if (next === undefined) return;
    receive(next.message as string);
  }
}
