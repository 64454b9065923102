// A binary heap of small numbers, least first.

export class Heap {
  readonly #items: number[] = [];

  constructor(items: readonly number[]) {
    for (const item of items) this.push(item);
  }

  push(item: number): void {
    const items = this.#items;
    let i = items.push(item) - 1;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (items[parent]! <= item) break;
      items[i] = items[parent]!;
      i = parent;
    }
    items[i] = item;
  }

  pop(): number | undefined {
    const items = this.#items;
    const least = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return least;
    let i = 0;
    for (;;) {
      let next = 2 * i + 1;
      if (next >= items.length) break;
      if (next + 1 < items.length && items[next + 1]! < items[next]!) next++;
      if (items[next]! >= last) break;
      items[i] = items[next]!;
      i = next;
    }
    items[i] = last;
    return least;
  }
}
