require('dotenv').config();
const nodemailer = require('nodemailer');

const { SMTP_HOST, SMTP_USER, SMTP_PASSWORD } = process.env;

for (const [name, value] of Object.entries({ SMTP_HOST, SMTP_USER, SMTP_PASSWORD })) {
  if (!value) {
    console.error(`${name} isn't set`);
    process.exit(78);
  }
}

const transport = nodemailer.createTransport({
  host: SMTP_HOST,
  port: 465,
  secure: true,
  auth: { user: SMTP_USER, pass: SMTP_PASSWORD },
});

async function send(to, subject, text) {
  const { messageId, rejected } = await transport.sendMail({ from: `"Ledgerline" <${SMTP_USER}>`, to, subject, text });
  if (rejected.length > 0) throw new Error(`rejected: ${rejected.join(', ')}`);
  return messageId;
}

send('accounts@example.com', 'Monthly statement', 'The statement of May is ready.')
  .then((id) => console.log(`sent ${id}`))
  .catch((error) => {
    console.error(error.message);
    process.exitCode = 1;
  });
