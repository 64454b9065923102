// The worker of blake3.test.ts: hashes what it is sent, or loads it as a workflow.

import { hashBytes } from '../../api/blake3-workerd.ts';
import { loadWorkflow } from '../../schema/load-workflow.ts';

export default {
  async fetch(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/hash') return new Response(hashBytes(new Uint8Array(await request.arrayBuffer())));
    return Response.json(loadWorkflow(await request.text(), { name: pathname.slice(1), root: '/project' }));
  },
};
