"""Sends the nightly report through the relay on this machine."""
import smtplib
import sys
from email.message import EmailMessage

RELAY_HOST = "localhost"
RELAY_PORT = 2525
EX_TEMPFAIL = 75


def report() -> EmailMessage:
    message = EmailMessage()
    message["From"] = "reports@example.com"
    message["To"] = "ops@example.com"
    message["Subject"] = "Nightly report"
    message.set_content("All jobs ended.\n")
    return message


try:
    with smtplib.SMTP(RELAY_HOST, RELAY_PORT, timeout=2) as relay:
        relay.send_message(report())
except OSError as error:
    print(f"not sent: {error.strerror}", file=sys.stderr)
    sys.exit(EX_TEMPFAIL)
