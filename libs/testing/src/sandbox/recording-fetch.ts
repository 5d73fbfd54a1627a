/** One request of the adapter and the host's answer. */
export interface Exchange {
  method: string;
  url: string;
  body: unknown;
  status: number;
  answer: unknown;
}

/** Returns a `fetch` that appends every exchange to the list. */
export function recordingFetch(exchanges: Exchange[], send: typeof fetch = fetch): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    const text = await response.clone().text();
    // Logs are plain text.
    const isJson = response.headers.get('content-type')?.includes('json') ?? false;
    exchanges.push({
      method: init?.method ?? 'GET',
      url: String(input),
      body: typeof init?.body === 'string' ? JSON.parse(init.body) : undefined,
      status: response.status,
      answer: isJson && text !== '' ? JSON.parse(text) : undefined,
    });
    return response;
  };
}
