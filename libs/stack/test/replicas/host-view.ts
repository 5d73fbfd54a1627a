import type { World } from '@pipeline/engine/model';
import { REPO, type Scene } from './scene.ts';

interface Shown {
  number: number;
  state: string;
  body: string | null;
  labels: { name: string }[];
  pull_request?: object;
}

/** As the model writes markers. */
const asModel = (text: string | null): string => (text ?? '').replace(/\n*<!-- svc:([^>]*) -->/g, '\n<!-- $1 -->');

/** What the host shows, in the form in which the model holds its own host. */
export async function viewOf({ host }: Scene): Promise<World['host']> {
  const all = async <T>(path: string): Promise<T[]> => {
    const found: T[] = [];
    for (let page = 1; ; page += 1) {
      const some = await host.api<T[]>('GET', `${REPO}${path}?state=all&per_page=100&page=${page}`);
      found.push(...some);
      if (some.length < 100) return found;
    }
  };
  const shown = await all<Shown>('/issues');
  const issues = new Map<number, unknown>();
  const comments = new Map<number, unknown>();
  const pulls = new Map<number, unknown>();
  for (const { number, state, body, labels, pull_request } of shown) {
    const one = { number, state, body: asModel(body), labels: labels.map(({ name }) => name) };
    (pull_request ? pulls : issues).set(number, one);
    if (pull_request) continue;
    const said = await all<{ body: string }>(`/issues/${number}/comments`);
    comments.set(
      number,
      said.map((comment) => ({ body: asModel(comment.body) })),
    );
  }
  return { state: { issues, comments, pulls } } as unknown as World['host'];
}
