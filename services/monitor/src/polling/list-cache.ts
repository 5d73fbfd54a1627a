import { type PageRequest, type Paginated, pageOf } from '@pipeline/domain';
import { PolledValue } from './polled-value.ts';

export interface Reading<T> {
  items: readonly T[];
  /** Includes items that are not kept. */
  total: number;
}

/** A list as of the last poll; until the first one has finished it is empty, and its total unknown. */
export class ListCache<T> {
  readonly #polled: PolledValue<Reading<T>>;

  constructor(read: () => Promise<Reading<T>>, now: () => Date) {
    this.#polled = new PolledValue(read, now);
  }

  /** Reads the list again. */
  refresh(): Promise<void> {
    return this.#polled.refresh();
  }

  /** Applies a known change to the list without reading it again. */
  change(edit: (items: readonly T[]) => readonly T[]): void {
    this.#polled.change(({ items, total }) => {
      const edited = edit(items);
      return { items: edited, total: total + edited.length - items.length };
    });
  }

  page(request: PageRequest): Paginated<T> & { polledAt: string | null } {
    const { limit, offset } = request;
    const { value, polledAt = null } = this.#polled.last ?? {};
    return { ...pageOf(this.all().slice(offset, offset + limit), request, value?.total ?? null), polledAt };
  }

  all(): readonly T[] {
    return this.#polled.last?.value.items ?? [];
  }
}
