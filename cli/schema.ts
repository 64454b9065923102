// `sluice schema [KIND]`: the JSON Schema of a kind of file, made from the validator itself.

import { jsonSchemaOf, type SchemaKind } from '../schema/front/json-schema.ts';
import { EXIT, type ExitCode, type Invocation } from './command.ts';

export async function run({ positionals, io }: Invocation): Promise<ExitCode> {
  const kind = positionals[0] as SchemaKind | undefined;
  io.stdout.write(`${JSON.stringify(jsonSchemaOf(kind), null, 2)}\n`);
  return EXIT.done;
}
