//! A hello is parsed the same however it is split, and anything else is rejected early.

use proptest::prelude::*;

use super::*;

/// `openssl s_client` 3.0, TLS 1.3, asking for `api.example.com`.
const OPENSSL: &str = "\
    160301013c0100013803034b5f5ca291f3ed37d780940c95e02320ba85ad2ba942704a7cec1140586211b7204b1770fff08958843df6680e\
    9631f20ece7cf0a2e44b2812925966e0321e83fb003e130213031301c02cc030009fcca9cca8ccaac02bc02f009ec024c028006bc023c027\
    0067c00ac0140039c009c0130033009d009c003d003c0035002f00ff010000b100000014001200000f6170692e6578616d706c652e636f6d\
    000b000403000102000a00160014001d0017001e0019001801000101010201030104002300000016000000170000000d002a002804030503\
    0603080708080809080a080b080408050806040105010601030303010302040205020602002b0009080304030303020301002d0002010100\
    3300260024001d002061d1a5254abe4263939c4ce246b16fa2fe35f29411c2d91e73c149ae835a1548\
";

/// The same with `-tls1_2`, asking for `api.example.com`.
const OPENSSL12: &str = "\
    16030100cf010000cb03036ed0c24304dac7c2aa1435614accb1104c3657c141b1578e562070513fdf578a000038c02cc030009fcca9cca8\
    ccaac02bc02f009ec024c028006bc023c0270067c00ac0140039c009c0130033009d009c003d003c0035002f00ff0100006a000000140012\
    00000f6170692e6578616d706c652e636f6d000b000403000102000a000c000a001d0017001e00190018002300000016000000170000000d\
    002a0028040305030603080708080809080a080b080408050806040105010601030303010302040205020602\
";

/// Node 20, asking for `api.example.com`.
const NODE: &str = "\
    16030101700100016c03035078b7b4a3b2a0def52f6c6eaba97cba4e97186f5f5d34f41a3be1ac4f81728820c98324c71255188200a2ba00\
    4426fb79a25b9be42f98440e68ebd1a00cbb0f060076130213031301c02fc02bc030c02c009ec0270067c028006b00a3009fcca9cca8ccaa\
    c0afc0adc0a3c09fc05dc061c057c05300a2c0aec0acc0a2c09ec05cc060c056c052c024006ac0230040c00ac01400390038c009c0130033\
    0032009dc0a1c09dc051009cc0a0c09cc050003d003c0035002f00ff010000ad00000014001200000f6170692e6578616d706c652e636f6d\
    000b000403000102000a00160014001d0017001e0019001801000101010201030104002300000016000000170000000d002a002804030503\
    0603080708080809080a080b080408050806040105010601030303010302040205020602002b00050403040303002d000201010033002600\
    24001d0020229e292654590536a416502663141ebe0c886b0323f21fed53853c93d725b345\
";

fn captured(hex: &str) -> Vec<u8> {
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    hex.as_bytes().chunks(2).map(byte).collect()
}

fn names(text: &str) -> Hello {
    Hello::Names(Name::from_wire(text.as_bytes()).unwrap())
}

/// A 16-bit length and the bytes that it measures.
fn measured(bytes: &[u8]) -> Vec<u8> {
    [&u16::try_from(bytes.len()).unwrap().to_be_bytes()[..], bytes].concat()
}

fn extension(kind: u16, content: &[u8]) -> Vec<u8> {
    [&kind.to_be_bytes()[..], &measured(content)].concat()
}

fn server_name(name: &[u8]) -> Vec<u8> {
    extension(SERVER_NAME, &measured(&[&[0], &measured(name)[..]].concat()))
}

/// A message before its extensions.
fn beginning() -> Vec<u8> {
    [&[3, 3][..], &[7; 32], &[2, 8, 9], &[0, 4, 0x13, 1, 0x13, 2], &[1, 0]].concat()
}

fn message(body: &[u8]) -> Vec<u8> {
    [&[1, 0], &measured(body)[..]].concat()
}

/// One record of each length, then as few as hold the rest.
fn records(message: &[u8], lengths: &[usize]) -> Vec<u8> {
    let mut stream = Vec::new();
    let mut rest = message;
    let mut lengths = lengths.iter().copied();
    while !rest.is_empty() {
        let length = lengths.next().unwrap_or(1 << 14).min(rest.len());
        let (fragment, behind) = rest.split_at(length);
        stream.extend([&[22, 3, 1], &measured(fragment)[..]].concat());
        rest = behind;
    }
    stream
}

fn hello(extensions: &[Vec<u8>]) -> Vec<u8> {
    records(&message(&[beginning(), measured(&extensions.concat())].concat()), &[])
}

/// Parses the bytes, and checks that the result is known with the last byte and not before.
fn read_at_last(bytes: &[u8]) -> Hello {
    assert_eq!(answered_after(bytes), bytes.len(), "{bytes:x?}");
    read(bytes)
}

/// The number of bytes after which the result is known.
fn answered_after(bytes: &[u8]) -> usize {
    (0..=bytes.len())
        .find(|&length| read(&bytes[..length]) != Hello::Incomplete)
        .expect("an answer")
}

#[test]
fn hellos_of_real_clients_name_their_server() {
    for hex in [OPENSSL, OPENSSL12, NODE] {
        assert_eq!(read_at_last(&captured(hex)), names("api.example.com"));
    }
}

#[test]
fn the_name_is_found_in_any_case_and_among_other_extensions() {
    let other = extension(0x0a0a, b"grease");
    assert_eq!(
        read_at_last(&hello(&[other.clone(), server_name(b"A.Example."), extension(23, b"")])),
        names("a.example")
    );
    assert_eq!(read_at_last(&hello(&[other])), Hello::Unnamed);
    assert_eq!(read_at_last(&hello(&[])), Hello::Unnamed);
    assert_eq!(read_at_last(&records(&message(&beginning()), &[])), Hello::Unnamed);
}

#[test]
fn what_is_no_dns_name_is_no_name() {
    for bad in [
        &b"10.0.0.5"[..],
        b"::1",
        b"[::1]",
        b"a.example\0.b",
        b"a..example",
        b"a example",
        b"\xff",
        b".",
        &[b'a'; 64],
    ] {
        assert_eq!(
            read_at_last(&hello(&[server_name(bad)])),
            Hello::Unnamed,
            "{}",
            bad.escape_ascii()
        );
    }
}

#[test]
fn an_encrypted_hello_hides_the_name_wherever_it_stands() {
    let name = server_name(b"a.example");
    for kind in [ENCRYPTED_CLIENT_HELLO, ENCRYPTED_SERVER_NAME] {
        let hidden = extension(kind, &[0; 30]);
        assert_eq!(read_at_last(&hello(&[name.clone(), hidden.clone()])), Hello::Hidden);
        assert_eq!(read_at_last(&hello(&[hidden, name.clone()])), Hello::Hidden);
    }
}

#[test]
fn what_follows_in_other_records_is_not_looked_at() {
    let hello = hello(&[server_name(b"a.example")]);
    for behind in [&b"\x14\x03\x03\0\x01\x01\x17\x03\x03"[..], b"\0", b"GET / HTTP/1.1\r\n"] {
        assert_eq!(read(&[&hello, behind].concat()), names("a.example"));
    }
}

#[test]
fn hellos_that_can_be_read_in_two_ways_are_none() {
    let name = server_name(b"a.example");
    let entry = [&[0][..], &measured(b"a.example")].concat();
    let of_list = |list: &[u8]| extension(SERVER_NAME, list);
    for bad in [
        vec![name.clone(), name.clone()],
        vec![name.clone(), extension(5, b""), extension(5, b"")],
        vec![of_list(&measured(&[&entry[..], &entry].concat()))],
        vec![of_list(&measured(&[&entry[..], &[1], &measured(b"b")].concat()))],
        vec![of_list(&[&measured(&entry)[..], b"x"].concat())],
        vec![of_list(&measured(&[&[1][..], &measured(b"a.example")].concat()))],
        vec![of_list(&measured(&[0, 0, 0]))],
        vec![of_list(&[&[0, 13][..], &entry].concat())],
        vec![of_list(&measured(b""))],
        vec![of_list(b"")],
        vec![name.clone(), vec![0]],
        vec![name.clone(), vec![0, 9, 0, 1]],
        (1..=MAX_EXTENSIONS as u16 + 1)
            .map(|kind| extension(kind, b""))
            .collect(),
    ] {
        assert_eq!(read(&hello(&bad)), Hello::NotTls, "{bad:x?}");
    }
}

#[test]
fn lengths_that_do_not_add_up_are_none() {
    let extensions = measured(&server_name(b"a.example"));
    let whole = [beginning(), extensions.clone()].concat();
    let odd_ciphers = [
        &[3, 3][..],
        &[7; 32],
        &[0],
        &[0, 3, 0x13, 1, 0x13],
        &[1, 0],
        &extensions,
    ]
    .concat();
    let no_ciphers = [&[3, 3][..], &[7; 32], &[0], &[0, 0], &[1, 0], &extensions].concat();
    let no_compression = [&[3, 3][..], &[7; 32], &[0], &[0, 2, 0x13, 1], &[0], &extensions].concat();
    let long_session = [
        &[3, 3][..],
        &[7; 32],
        &[33],
        &[8; 33],
        &[0, 2, 0x13, 1],
        &[1, 0],
        &extensions,
    ]
    .concat();
    let behind = [whole.clone(), vec![0]].concat();
    let one_byte = [beginning(), vec![0]].concat();
    let wrong_length = [beginning(), vec![0, extensions[1] - 1], extensions[2..].to_vec()].concat();
    for bad in [
        odd_ciphers,
        no_ciphers,
        no_compression,
        long_session,
        behind,
        one_byte,
        wrong_length,
        whole[..whole.len() - 1].to_vec(),
        vec![3, 3],
    ] {
        assert_eq!(read(&records(&message(&bad), &[])), Hello::NotTls, "{bad:x?}");
    }
    let message = message(&whole);
    assert_eq!(read(&records(&[&message[..], &[0]].concat(), &[])), Hello::NotTls);
    assert_eq!(read(&records(&[&message[..], &message].concat(), &[])), Hello::NotTls);
    assert_eq!(read(&records(&message, &[])), names("a.example"));
}

#[test]
fn other_protocols_are_told_with_the_first_byte_that_cannot_be() {
    for (bytes, length) in [
        (&b"GET / HTTP/1.1\r\n\r\n"[..], 1),
        (b"SSH-2.0-OpenSSH\r\n", 1),
        // SSLv2's hello, with and without padding.
        (b"\x80\x2e\x01\x03\x01\0", 1),
        (b"\x00\x2e\x01\x01\x03\x01", 1),
        // An alert; early data; another major or minor version.
        (b"\x15\x03\x01\0\x02\x02\x28", 1),
        (b"\x17\x03\x03\0\x02", 1),
        (b"\x16\x02\x00", 2),
        (b"\x16\x03\x05", 3),
        // Records too long or empty.
        (b"\x16\x03\x01\x41\0", 4),
        (b"\x16\x03\x01\x40\x01", 5),
        (b"\x16\x03\x01\0\0", 5),
        // A server's hello; a message too long or too short; a length that ends within the record.
        (b"\x16\x03\x01\x01\0\x02", 6),
        (b"\x16\x03\x01\x01\0\x01\x01", 7),
        (b"\x16\x03\x01\0\x2c\x01\0\0\x28", 9),
        (b"\x16\x03\x01\x01\0\x01\0\0\xfb", 9),
        (b"\x16\x03\x01\x01\0\x01\0\0\xfc\x02", 10),
        // Another type of record within a message.
        (b"\x16\x03\x01\0\x02\x01\0\x15", 8),
    ] {
        assert_eq!(answered_after(bytes), length, "{bytes:x?}");
        assert_eq!(read(bytes), Hello::NotTls, "{bytes:x?}");
    }
}

#[test]
fn a_long_hello_is_read_and_an_endless_one_is_none() {
    let padding = |length: usize| extension(21, &vec![0; length]);
    let fixed = hello(&[server_name(b"a.example"), padding(0)]).len() - 5 - 4;
    let longest = hello(&[server_name(b"a.example"), padding(0xffff - fixed)]);
    assert_eq!(read(&longest), names("a.example"));
    assert_eq!(read(&longest[..longest.len() - 1]), Hello::Incomplete);
    // One-byte records would need more than the limit.
    let message = message(&[beginning(), measured(&padding(0xff00))].concat());
    let endless = records(&message, &vec![1; message.len()]);
    assert_eq!(read(&endless[..MAX_LENGTH - 1]), Hello::Incomplete);
    assert_eq!(read(&endless[..MAX_LENGTH]), Hello::NotTls);
    assert_eq!(read(&endless), Hello::NotTls);
}

/// A valid hello with some bytes changed.
fn changed() -> impl Strategy<Value = Vec<u8>> {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3);
    let base = prop::sample::select(vec![OPENSSL, OPENSSL12, NODE]);
    (base, prop::collection::vec(1..200_usize, 0..5), changes).prop_map(|(hex, lengths, changes)| {
        let mut stream = records(&captured(hex)[5..], &lengths);
        for (at, byte) in changes {
            *at.get_mut(&mut stream) = byte;
        }
        stream
    })
}

proptest! {
    #[test]
    fn records_of_any_length_hold_the_same_hello(lengths in prop::collection::vec(1..100_usize, 0..20)) {
        let stream = records(&captured(NODE)[5..], &lengths);
        prop_assert_eq!(read_at_last(&stream), names("api.example.com"));
    }

    #[test]
    fn an_answer_stays_whatever_follows(
        stream in prop_oneof![changed(), prop::collection::vec(any::<u8>(), 0..50)],
        behind in prop::collection::vec(any::<u8>(), 0..20)
    ) {
        let stream = [stream, behind].concat();
        let answers: Vec<Hello> = (0..=stream.len()).map(|length| read(&stream[..length])).collect();
        let clear = answers.iter().position(|answer| *answer != Hello::Incomplete).unwrap_or(stream.len());
        for answer in &answers[clear..] {
            prop_assert_eq!(answer, &answers[clear]);
        }
    }
}
