// A route's path as OpenAPI writes it: `/w/:name{[^]+}/status` is `/w/{name}/status`.

export interface OpenApiPath {
  readonly path: string;
  readonly params: readonly string[];
}

export function openApiPath(route: string): OpenApiPath {
  const params: string[] = [];
  let path = '';
  let at = 0;
  while (at < route.length) {
    const name = /^\/:(\w+)/.exec(route.slice(at))?.[1];
    if (name === undefined) {
      path += route[at];
      at += 1;
      continue;
    }
    params.push(name);
    path += `/{${name}}`;
    at = endOfParam(route, at + 2 + name.length);
  }
  return { path, params };
}

/** Skips the regular expression, which may have braces of its own, and the mark of an optional one. */
function endOfParam(route: string, from: number): number {
  let at = from;
  if (route[at] === '{') {
    let depth = 0;
    do {
      if (route[at] === '{') depth += 1;
      if (route[at] === '}') depth -= 1;
      at += 1;
    } while (depth > 0 && at < route.length);
  }
  return route[at] === '?' ? at + 1 : at;
}
