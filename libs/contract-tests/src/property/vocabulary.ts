/** Most values that are kept of one name; the newest stay. */
const MOST_VALUES = 40;

/** Names under which answers give what requests call something else. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  owner: ['repoOwner'],
  repo: ['slug', 'repoName'],
  issue: ['issueNumber', 'number'],
  issueNumber: ['number'],
  number: ['issueNumber'],
  issueNumbers: ['issueNumber', 'number'],
  id: ['taskId', 'itemId', 'runId'],
  taskId: ['id'],
  workerId: ['id'],
  supersededBy: ['id'],
  version: ['active_version'],
  targetState: ['state'],
  after: ['next'],
};

type Scalar = string | number;

/**
 * Values from responses of the target, by field name and by the part of the surface that returned them: ids, repos,
 * numbers. Requests use them to reach what exists.
 */
export class Vocabulary {
  readonly #byName = new Map<string, Set<Scalar>>();

  /** Keeps every text and number of a JSON answer. Values that are no JSON are ignored. */
  learn(path: string, body: string): void {
    if (body === '' || body.length > 2_000_000) return;
    try {
      this.#walk(partOf(path), '', JSON.parse(body));
    } catch {
      // A page or a file.
    }
  }

  /** Gives one endpoint its own values of a field, in place of those of others. */
  give(path: string, name: string, values: readonly Scalar[]): void {
    this.#byName.set(`${path} ${name}`, new Set(values));
  }

  /** Values for a field of a request: those of its endpoint, else of the same part of the surface, else of all parts. */
  known(path: string, name: string): Scalar[] {
    const given = this.#byName.get(`${path} ${name}`);
    if (given && given.size > 0) return [...given];
    const names = [name, ...(ALIASES[name] ?? [])];
    const own = names.flatMap((one) => [...(this.#byName.get(`${partOf(path)} ${one}`) ?? [])]);
    return own.length > 0 ? own : names.flatMap((one) => [...(this.#byName.get(one) ?? [])]);
  }

  #walk(part: string, name: string, value: unknown): void {
    if (typeof value === 'string' || typeof value === 'number') this.#keep(part, name, value);
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) this.#walk(part, Array.isArray(value) ? name : key, inner);
  }

  #keep(part: string, name: string, value: Scalar): void {
    if (name === '' || String(value).length > 300) return;
    for (const key of [name, `${part} ${name}`]) {
      const values = this.#byName.get(key) ?? new Set();
      values.delete(value);
      values.add(value);
      for (const oldest of values) {
        if (values.size <= MOST_VALUES) break;
        values.delete(oldest);
      }
      this.#byName.set(key, values);
    }
    const [owner, repo, ...more] = String(value).split('/');
    if (['repo', 'slug'].includes(name) && owner && repo && more.length === 0) {
      this.#keep(part, 'owner', owner);
      this.#keep(part, 'repoName', repo);
    }
  }
}

/** `/api/worker` of `/api/worker/tasks/7`: addresses that begin alike speak of the same things. */
const partOf = (path: string): string => path.split('/').slice(0, 3).join('/');
