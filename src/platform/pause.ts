/** Unlike `Clock.sleep` it keeps the process alive: the end of something is being made sure of. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
