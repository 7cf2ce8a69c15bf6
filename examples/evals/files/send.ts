export async function sendAll(urls: readonly string[], body: string): Promise<number> {
  let sent = 0;
  urls.forEach(async (url) => {
    const response = await fetch(url, {method: 'POST', body});
    if (response.ok) sent += 1;
  });
  return sent;
}
