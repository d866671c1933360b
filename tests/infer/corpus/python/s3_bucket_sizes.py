"""Sizes of the buckets of an account. Credentials are found by boto3 in its usual places."""
import boto3
from botocore.exceptions import ClientError


def size(bucket) -> int:
    return sum(item.size for item in bucket.objects.all())


def main() -> None:
    s3 = boto3.resource("s3")
    for bucket in s3.buckets.all():
        try:
            print(f"{bucket.name}: {size(bucket):,} bytes")
        except ClientError as error:
            print(f"{bucket.name}: {error.response['Error']['Code']}")


if __name__ == "__main__":
    main()
