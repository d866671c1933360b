// Says in the chat that a version is out. The address of the webhook is in config/deploy.yaml.
import { loadConfig } from './config.js';

interface Notice {
  text: string;
  blocks?: Array<{ kind: 'link'; label: string; url: string }>;
}

function compose(service: string, image: string): Notice {
  const version = image.split(':').at(-1) ?? 'unknown';
  return {
    text: `${service} ${version} is out`,
    blocks: [{ kind: 'link', label: 'changes', url: `https://example.com/${service}/changes#${version}` }],
  };
}

async function post(webhook: string, notice: Notice): Promise<void> {
  const response = await fetch(webhook, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(notice),
  });
  if (!response.ok) throw new Error(`webhook: ${response.status}`);
}

const { service, image, webhook } = await loadConfig();
if (webhook) {
  await post(webhook, compose(service, image));
} else {
  console.log(compose(service, image).text);
}
