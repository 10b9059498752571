/// The seeds of the fuzz tests of bluenviron/gortsplib at 9b93574 (MIT licence, copyright aler9) that concern RTSP:
/// pkg/{base,headers,sdpunmarshaler,auth,description}/testdata/fuzz. Each once, in base64.
enum GortsplibSeeds {
    static let base64: [String] = [
        "", "DQ==", "IA==", "MA==", "QQ==", "LTE=", "MCA=", "MDo=", "MD0=", "MTA=", "PSI=", "PYQ=", "dj0=", "MCAg",
        "MDoN", "MDow", "Oz0i", "c2Vx", "MDAwMA==", "dGltZQ==", "bnB0PS0=", "c21wdGU=", "QmFzaWMg", "bnB0PTot",
        "cG9ydD0t", "dj0wCmI9", "dj0wCmM9", "dj0wCm09", "dj0wCm89", "dj0wCnQ9", "MTAwMDAwMA==", "QmFzaWMgMA==",
        "RGlnZXN0IA==", "Y2xvY2s9LQ==", "bnB0PTAtQQ==", "bnB0PTo6LQ==", "cG9ydD0tLQ==", "cG9ydD0wLQ==",
        "cnRwdGltZQ==", "c21wdGU9LQ==", "dj0wCmI9Og==", "O3RpbWVvdXQ=", "QmFzaWMgPSI=", "bnB0PTo6Oi0=",
        "MCBydHNwOiAw", "RGlnZXN0ID0i", "UlRTUC8xLjAg", "c21wdGU9Ojot", "dj0wCmI9WC06", "dj0wCmM9MCAw",
        "dj0wCnQ9MCBB", "dj0wCnQ9QSAw", "dj0wCno9MCBB", "dj0wCno9MCBk", "dj0wCno9MCBo", "dj0wCno9MCBt",
        "dj0wCno9MDAw", "dj0wCno9QSAw", "MCBydHNwOiAwDQ==", "UlRTUC8xLjAgIA==", "c21wdGU9MDo6LQ==",
        "dj0wCmM9SU4gMA==", "UlRTUC8xLjAgMCA=", "dj0wCnI9MCAwIDA=", "dj0wCnU9JfOWgzA=", "UlRTUC8xLjAgMCAN",
        "c21wdGU9MDowOkEt", "dj0wCm89MCBJTiAw", "dj0wCnQ9MCAwCnI9", "UlRTUC8xLjAgMCAwDQ==", "c21wdGU9MDowOjAtMA==",
        "c21wdGU9MDowOjA6LQ==", "dD0wIDAKcj1BIDAgMA==", "dj0wCm09MCAwIDAgMA==", "UlRTUC8xLjAgMCAwDQo=",
        "dD0wIDAKcj0wIDBBIDA=", "dj0wCm89IElOIElQNCA=", "dj0wCm89QSBJTiBJUDQ=", "dj0wCm89IEEgSU4gSVA0IA==",
        "dj0wCm89WCAwIElOIElQNA==", "c291cmNlPTA6MDowOjowJTA=", "dj0wCm09YXVkaW8gQSAwIDA=",
        "dj0wCnQ9MCAwCnI9MCAwIEE=", "MCBydHNwOiMgUlRTUC8xLjAN", "c291cmNlPTAuMC4wLjAuQS4w",
        "dj0wCm09YXVkaW8gMCAwIDAw", "dj0wCm09YXVkaW8gMC8gMCAw", "dj0wCm89IFggMCBJTiBJUDQg",
        "MCBydHNwOiMgUlRTUC8xLjANCg==", "c21wdGU9MDowOjAtMDowOjA6LjA=", "c21wdGU9MDowOjAtMDowOjA6MC4=",
        "dj0wCm09YXVkaW8gNzAwMDAgMCAw", "dj0wCnM9MAphPWdyb3VwOkZFQyAw", "dj0wCm09YXVkaW8gMCBBVlAgMApiPQ==",
        "dj0wCm09YXVkaW8gMCBBVlAgMApjPQ==", "Y2xvY2s9MDAwMDAxMDFUMDAwMDAwWi0w",
        "RGlnZXN0IHJlYWxtLG5vbmNlPSIiYWxnb3JpdGht", "dj0wCnM9MAptPXZpZGVvIDAgQVZQIDAKYT1taWQ6IA==",
        "UlRTUC8xLjAgMCAwDQpDb250ZW50LUxlbmd0aDoNCg0K", "MCBydHNwOiMgUlRTUC8xLjANCkNvbnRlbnQtTGVuZ3RoOg0KDQo=",
        "RGlnZXN0IHVzZXJuYW1lLHJlYWxtLG5vbmNlLHVyaSxyZXNwb25zZSxhbGdvcml0aG0=",
    ]
}
