export async function peerRows() {
  return [];
}
